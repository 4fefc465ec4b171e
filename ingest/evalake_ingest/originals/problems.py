"""Everything that is wrong with source files, in one error."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evalake_warehouse.errors import DatasetError, Problem

_MAX_SHOWN = 20


@dataclass
class Problems:
    """Problems found so far in the files of one import; beyond twenty they are counted."""

    shown: list[Problem] = field(default_factory=list)
    count: int = 0
    hints: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.count > 0

    def add(self, where: str, what: str, *, hint: str | None = None) -> None:
        """Note one problem, and a command that mends it."""
        self.count += 1
        if len(self.shown) < _MAX_SHOWN:
            self.shown.append(Problem(where, what))
            if hint is not None and hint not in self.hints:
                self.hints.append(hint)

    def refuse(self) -> None:
        """Raise all of them.

        Raises:
            DatasetError: there is a problem.
        """
        if not self.count:
            return
        shown = list(self.shown)
        if self.count > len(shown):
            shown.append(Problem("", f"and {self.count - len(shown)} more problems"))
        error = DatasetError("\n".join(map(str, shown)), hint="\n      ".join(self.hints) or None)
        error.problems = tuple(shown)
        raise error


def earlier_place(there: str, here: str) -> str:
    """An earlier place for a message: `line 3`, or with its file where that is another file."""
    file, _, end = there.rpartition(":")
    if here.rpartition(":")[0] != file:
        return there
    end = end.strip()
    return f"line {end}" if end.isdigit() else end


def refuse_all(problems: Sequence[Problem]) -> None:
    """Raise every problem of a source at once; beyond twenty they are counted.

    Raises:
        DatasetError: there is a problem.
    """
    found = Problems()
    for problem in problems:
        found.add(problem.where, problem.what)
    found.refuse()


def file_sha256(file: Path) -> str:
    """Hex sha256 of a file's bytes.

    Raises:
        DatasetError: it cannot be read.
    """
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror}", where=str(file)) from error
