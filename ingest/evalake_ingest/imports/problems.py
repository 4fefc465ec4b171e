"""Everything that is wrong with a source file, in one error."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from evalake_warehouse.errors import DatasetError, Problem

_MAX_SHOWN = 20


def refuse_all(problems: Sequence[Problem], where: str) -> None:
    """Raise every problem of a source file at once; beyond twenty they are counted.

    Raises:
        DatasetError: there is a problem.
    """
    if not problems:
        return
    shown = list(problems[:_MAX_SHOWN])
    if len(problems) > len(shown):
        shown.append(Problem(where, f"{len(problems) - len(shown)} more problems of this file"))
    error = DatasetError("\n".join(map(str, shown)))
    error.problems = tuple(shown)
    raise error


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
