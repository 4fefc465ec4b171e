"""The file of a corpus that a path probably means, where it is none as it stands."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote

_DRIVE = re.compile(r"^/?[A-Za-z]:(?=/)")
_LINES = re.compile(r"(:\d+([-:]\d+)*|#L?\d+(-L?\d+)?)$")


def mend_path(raw: str, known: frozenset[str]) -> str | None:
    """The file of a corpus that a path probably means; None where none or several come near.

    Tried: file:// URIs, backslashes, drive letters, line numbers at the end, composed accents,
    then leading folders too many (absolute paths, `a/` and `b/` of git) and too few.
    """
    path = raw
    if raw.startswith("file://"):
        path = unquote(raw.removeprefix("file://localhost").removeprefix("file://"))
    path = _DRIVE.sub("", path.replace("\\", "/"))
    for told in (path, _LINES.sub("", path)):
        parts = [
            part
            for part in unicodedata.normalize("NFC", told).split("/")
            if part not in {"", ".", ".."}
        ]
        for start in range(len(parts)):
            found = "/".join(parts[start:])
            # A bare file name means little where several files have it, such as `__init__.py`.
            if found in known and (start == 0 or start < len(parts) - 1 or _is_only(found, known)):
                return found
        ending = "/" + "/".join(parts)
        longer = [name for name in known if parts and name.endswith(ending)]
        if len(longer) == 1:
            return longer[0]
    return None


def _is_only(name: str, known: frozenset[str]) -> bool:
    return not any(path.endswith(f"/{name}") for path in known)
