"""Text of others as a person may safely be shown it: on a terminal, in a table, chart or page.

What is no visible character is written as its escape, so that two texts that differ look
different, nothing turns the direction of what follows, and no terminal or chart compiler acts
on it.
"""

from __future__ import annotations

import re

# Control characters, what formats or turns text (but joiners, which shape letters and emoji, and
# soft hyphens), line and paragraph separators, halves of surrogate pairs, and the code points that
# are no characters, two of which no XML may hold.
_REST = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b"
    r"\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ud800-\udfff\ufdd0-\ufdef\ufeff"
    r"\ufff9-\ufffb\ufffe\uffff"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0001\U000e0020-\U000e007f"
    + "".join(f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(1, 17))
)
_ODD = re.compile(rf"[\t\n{_REST}]")
_ODD_IN_LINES = re.compile(rf"[{_REST}]")
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_LAST_OF_A_BYTE, _LAST_OF_TWO = 0xFF, 0xFFFF


def shown(text: str, *, lines: bool = False) -> str:
    """`text` with every character visible; half a surrogate pair is U+FFFD.

    Args:
        lines: leave line ends and tabs as they are, where the place has room for lines.
    """
    if lines:
        return _ODD_IN_LINES.sub(_written, text.replace("\r\n", "\n"))
    return _ODD.sub(_written, text)


def _written(match: re.Match[str]) -> str:
    char = match[0]
    if "\ud800" <= char <= "\udfff":
        return "\N{REPLACEMENT CHARACTER}"
    code = ord(char)
    if code <= _LAST_OF_A_BYTE:
        return _NAMED.get(char, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code <= _LAST_OF_TWO else f"\\U{code:08x}"
