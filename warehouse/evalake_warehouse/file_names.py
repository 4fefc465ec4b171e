"""Names of others as names of files: made safe, or refused."""

from __future__ import annotations

import re

from evalake_warehouse.identity import sha256_text

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+@-]{0,127}")
_OTHER = re.compile(r"[^A-Za-z0-9._+-]+")
_MAX_MADE = 80
# Windows gives these to devices, whatever their ending.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


def is_file_name(text: str) -> bool:
    """Whether a text can stand in a path as it is, on any system, and stay in its folder."""
    return _PLAIN.fullmatch(text) is not None and not _is_odd(text)


def file_name(text: str) -> str:
    """A file name for any text: itself where it is plain, else what is left of it and a hash.

    Two texts never get one name, and no name leaves its folder.
    """
    if is_file_name(text) and len(text) <= _MAX_MADE:
        return text
    left = _OTHER.sub("_", text).strip("._-+")[:_MAX_MADE]
    made = f"{left or 'x'}-{sha256_text(text)[:8]}"
    return f"x-{made}" if _is_odd(made) else made


def _is_odd(text: str) -> bool:
    return text.endswith(".") or _DEVICES.fullmatch(text) is not None
