"""Keep secrets and noise out of everything that is recorded or printed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

MAX_REASON_CHARS = 300

_SECRET_NAME = re.compile(
    r"(^|_)(api_?key|key|token|secret|password|passwd|pwd|credentials?|auth)($|_)", re.IGNORECASE
)
_MIN_SECRET_CHARS = 6  # a shorter value would also be cut out of ordinary words
_SHAPES = (
    re.compile(r"(?i)(bearer|basic)\s+[\w.~+/=-]{8,}"),
    re.compile(
        r"(?i)\b((?:[\w-]*(?:api[_-]?key|token|secret|password))[\"']?\s*[=:]\s*[\"']?)[^\s\"'&,;]{4,}"
    ),
    re.compile(r"\b(sk|pk|ghp|gho|glpat|hf|ctx7sk|xox[bap])[-_][\w-]{8,}"),
    re.compile(r"(://[^/\s:@]+:)[^/\s@]+(?=@)"),
)


def scrub(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """`text` without the values of secret-looking environment variables and without key shapes."""
    values = {
        value
        for name, value in environment.items()
        if _SECRET_NAME.search(name) and len(value) >= _MIN_SECRET_CHARS
    }
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, "***")
    for shape in _SHAPES:
        text = shape.sub(lambda match: f"{match.group(1)} ***", text)
    return text


def short_reason(text: str) -> str:
    """One scrubbed line that fits a table cell."""
    line = " ".join(scrub(clean(text)).split())
    return line if len(line) <= MAX_REASON_CHARS else line[: MAX_REASON_CHARS - 1] + "…"


def describe(error: BaseException) -> str:
    """`TypeName: message` as a reason, or the type alone where there is no message."""
    message = str(error)
    name = type(error).__name__
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
