"""Make one clean line of whatever a system, an exception or a process said."""

from __future__ import annotations

from evalake_warehouse.scrub import scrub

MAX_REASON_CHARS = 300


def short_reason(text: str) -> str:
    """One scrubbed line that fits a table cell."""
    line = " ".join(scrub(clean(text)).split())
    return line if len(line) <= MAX_REASON_CHARS else line[: MAX_REASON_CHARS - 1] + "…"


def describe(error: BaseException) -> str:
    """`TypeName: message` as a reason, or the type alone where there is no message."""
    name = type(error).__name__
    try:
        message = str(error)
    except Exception:  # a system's own exception may fail at that too
        message = ""
    return short_reason(f"{name}: {message}" if message else name)


def clean(text: str) -> str:
    """`text` as valid Unicode: surrogate pairs joined, lone surrogates replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
