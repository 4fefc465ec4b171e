"""Find the files that a prose answer cites, and say which file of a corpus each one is.

Shapes that occur: `` `src/a.py` (lines 3-9) ``, `a.py:3`, `a.py:3-9`, `a.py#L3-L9`, "lines 3 to
9 in a.py", `./a.py`, a leading repository folder, a URL to a blob, and `3:9:a.py` on a fence.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

_SUFFIXES = (
    "py|pyi|pyx|md|rst|toml|cfg|txt|ini|ya?ml|json|html?|js|ts|css|sql|sh|c|h|cpp|ipynb|po|in"
)
_NAME = r"[A-Za-z0-9_][\w.+-]*"
_PATH = rf"(?:\.{{0,2}}/)?(?:{_NAME}/|\.[A-Za-z]\w*/)*{_NAME}\.(?:{_SUFFIXES})\b"
_CITED = re.compile(
    r"(?:https?://[^\s`)\]]*/(?:blob|raw|tree)/[0-9A-Za-z._-]+/|(?<![\w/]))"
    rf"(?:(?P<fence>\d+:\d+):)?(?P<path>{_PATH})(?![\w/])"
    r"(?P<mark>:\d+(?:-\d+)?|#L\d+(?:-L?\d+)?)?"
)
# `app.json` is more often an attribute than a file: these count with a folder only.
_NEEDS_FOLDER = re.compile(r"\.(?!pyi?$|md$|rst$|toml$|cfg$|txt$)\w+$")
_OTHER_URL = re.compile(r"https?://(?![^\s`)\]]*/(?:blob|raw|tree)/)[^\s`)\]>]+")
_RANGE = r"lines?\s+~?(\d+)(?:\s*(?:-|\u2013|\u2014|to|through|and)\s*(\d+))?"
_AFTER = re.compile(
    rf"\A[`*'\"]*\s*(?:\(|,|:|at|on|in|\[)*\s*(?:see\s+|around\s+|at\s+)?{_RANGE}", re.I
)
_BEFORE = re.compile(rf"{_RANGE}\s*(?:of|in|from|\bin\s+the\s+file)\s+[`*'\"(]*\Z", re.I)
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Citation:
    """One file named in a text, as written. Lines count from 1, both ends included."""

    written: str
    path: str
    start_line: int | None = None
    end_line: int | None = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a citation means in a corpus."""

    status: Literal["exact", "suffix", "ambiguous", "left_out", "unresolved"]
    path: str | None = None


def find_citations(text: str) -> Iterator[Citation]:
    """Every file named in a text, in order; the same one may come again."""
    # Links elsewhere are not citations of the corpus, whatever their path looks like.
    text = _OTHER_URL.sub(lambda match: " " * len(match.group()), text)
    for match in _CITED.finditer(text):
        path = match.group("path").lstrip("/")
        if "/" in path or not _NEEDS_FOLDER.search(path):
            yield Citation(match.group(), path, *_lines(match, text))


def _lines(match: re.Match[str], text: str) -> tuple[int | None, int | None]:
    if marked := match.group("fence") or match.group("mark"):
        return _ordered(_NUMBERS.findall(marked))
    if after := _AFTER.match(text[match.end() : match.end() + 80]):
        return _ordered([number for number in after.groups() if number])
    if before := _BEFORE.search(text[max(0, match.start() - 60) : match.start()]):
        return _ordered([number for number in before.groups() if number])
    return None, None


def _ordered(numbers: list[str]) -> tuple[int | None, int | None]:
    values = [int(number) for number in numbers]
    if not values or min(values) < 1:
        return None, None
    first, last = values[0], values[-1]
    return (first, last) if last >= first else (first, first)


@dataclass
class CitedPaths:
    """Finds cited files among the paths of one corpus."""

    paths: Iterable[str]
    repo_name: str  # a leading folder of this name is the checkout's own
    left_out: Iterable[str] = ()  # files that the repository has and the corpus has not
    _known: frozenset[str] = field(init=False)
    _by_name: dict[str, list[str]] = field(init=False)
    _others: CitedPaths | None = field(init=False)

    def __post_init__(self) -> None:
        self._known = frozenset(self.paths)
        by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in self._known:
            by_name[posixpath.basename(path)].append(path)
        self._by_name = dict(by_name)
        others = frozenset(self.left_out)
        self._others = CitedPaths(others, self.repo_name) if others else None

    def resolve(self, cited: str) -> Resolution:
        """The file meant: the path itself, or the only one that ends in it."""
        path = posixpath.normpath(cited)
        while path.startswith("../"):
            path = path[3:]
        if path in self._known:
            return Resolution("exact", path)
        inner = path.removeprefix(f"{self.repo_name}/")
        if inner in self._known:
            return Resolution("exact", inner)
        ending = [
            known
            for known in self._by_name.get(posixpath.basename(path), [])
            if known.endswith((f"/{path}", f"/{inner}"))
        ]
        if len(ending) == 1:
            return Resolution("suffix", ending[0])
        if ending:
            return Resolution("ambiguous")
        is_left_out = self._others is not None and self._others.resolve(cited).path is not None
        return Resolution("left_out" if is_left_out else "unresolved")
