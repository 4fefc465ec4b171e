"""Make the paths that systems answer corpus-relative, without guessing."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from evalake_ingest.corpora.rules import folded

RESOLVED = "resolved"
UNRESOLVED = "unresolved"

# `a.py:12`, `a.py:12-30`, `a.py:12:5`, `a.py#L12-L30`: a place in a file, as tools print it.
_PLACE = re.compile(r"(:\d+(?:[-:]\d+)*|#L\d+(?:-L?\d+)?)$")
_BLOB = re.compile(r"^/[^/]+/[^/]+/(?:-/)?(?:blob|raw|tree)/[^/]+/(.+)$")  # of a forge's URL
_DRIVE = re.compile(r"^[A-Za-z]:/")
_MODULE = re.compile(r"^[^\W\d]\w*(\.[^\W\d]\w*)+$")
_SOURCE_ROOTS = ("src", "lib", "python")


class PathResolver:
    """Finds the file of one corpus that an answered path means, or says that there is none.

    Every spelling is accepted only where it leaves one reading: a leading folder is the
    repository's own name only if the corpus has no folder of that name at its top, and a dotted
    module only if one file answers to it.
    """

    def __init__(self, paths: Iterable[str], roots: Iterable[Path] = ()) -> None:
        self._paths = frozenset(paths)
        self._composed: dict[str, str | None] = {}
        for path in self._paths:
            if not path.isascii():
                self._composed[folded(path)] = None if folded(path) in self._composed else path
        self._top = frozenset(path.split("/", 1)[0] for path in self._paths if "/" in path)
        spellings = {str(spelling) for root in roots for spelling in (root, root.resolve())}
        self._roots = tuple(sorted((spelling.rstrip("/") + "/" for spelling in spellings), key=len))
        self._modules: dict[str, str | None] | None = None
        self._known: dict[str, str | None] = {}

    def resolve(self, raw: str) -> str | None:
        """The corpus-relative POSIX path, or None."""
        if raw in self._paths:
            return raw
        if raw not in self._known:
            self._known[raw] = self._find(raw)
        return self._known[raw]

    def _find(self, raw: str) -> str | None:
        text = raw.strip().strip("`'\"")
        if (found := self._find_path(text)) is not None:
            return found
        if (shorter := _PLACE.sub("", text)) != text and (
            found := self._find_path(shorter)
        ) is not None:
            return found
        return self._find_module(text)

    def _find_path(self, text: str) -> str | None:
        if "://" in text:
            text = _path_of_url(text)
        if text in self._paths:
            return text
        text = text.replace("\\", "/")
        for root in self._roots:
            if text.startswith(root):
                return self._inside(text.removeprefix(root))
        if text.startswith("/") or _DRIVE.match(text):
            return None  # absolute, and elsewhere: its end may look right by chance
        return self._inside(text)

    def _inside(self, text: str) -> str | None:
        path = posixpath.normpath(text)
        if (found := self._spelled(path)) is not None:
            return found
        first, _, rest = path.partition("/")
        is_own_name = first not in self._top and first != ".."
        return self._spelled(rest) if is_own_name else None

    def _spelled(self, path: str) -> str | None:
        """The path, or the only one that differs from it in composition of accents alone."""
        if path in self._paths:
            return path
        return None if path.isascii() else self._composed.get(folded(path))

    def _find_module(self, text: str) -> str | None:
        if not _MODULE.match(text):
            return None
        if self._modules is None:
            self._modules = _modules(self._paths)
        return self._modules.get(text)


def _path_of_url(url: str) -> str:
    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.scheme == "file":
        return path.removeprefix("/") if _DRIVE.match(path.removeprefix("/")) else path
    blob = _BLOB.match(path)
    return blob.group(1) if blob else url


def _modules(paths: Iterable[str]) -> dict[str, str | None]:
    """Dotted name -> path; None where two files answer to it."""
    modules: dict[str, str | None] = {}
    for path in paths:
        stem, dot, suffix = path.rpartition(".")
        if not dot or suffix not in {"py", "pyi"}:
            continue
        parts = stem.split("/")
        if parts[-1] == "__init__":
            parts = parts[:-1]
        names = {".".join(parts)}
        if parts and parts[0] in _SOURCE_ROOTS:
            names.add(".".join(parts[1:]))
        for name in names:
            modules[name] = None if name in modules else path
    return modules
