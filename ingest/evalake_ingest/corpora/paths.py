"""Which paths and files of an untrusted source may be laid out on disk."""

from __future__ import annotations

import posixpath

MAX_FILE_BYTES = 10_000_000
MAX_PATH_BYTES = 900  # below every common file system's limit, with room for the corpus folder
MAX_NAME_BYTES = 240


def clean_path(name: str) -> str | None:
    """A corpus-relative POSIX path, or None for a name that must not be written.

    Refused: absolute names, `..`, drive letters and backslashes, control characters, bytes that
    are not UTF-8, and names too long for a file system.
    """
    if not name or name.startswith("/") or "\\" in name or (len(name) > 1 and name[1] == ":"):
        return None
    path = posixpath.normpath(name)
    parts = path.split("/")
    if path in {".", ""} or ".." in parts:
        return None
    if any(ord(character) < 32 or 0xD800 <= ord(character) <= 0xDFFF for character in path):
        return None
    if len(path.encode()) > MAX_PATH_BYTES or any(
        len(part.encode()) > MAX_NAME_BYTES for part in parts
    ):
        return None
    return path
