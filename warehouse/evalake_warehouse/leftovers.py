"""What processes that were killed have left of temporary files: removed at the next start."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from evalake_warehouse.project import Project
from evalake_warehouse.scratch import sweep

# Folders under the system's own temporary folder: of runs, checks, fetches and servers.
_OURS = re.compile(r"evalake-(?:(?:check|fetch|pydocs|describe)-)?[0-9a-f]{32}$")
_SPILLS = "evalake-spill-*"  # made by DuckDB while a question is answered, and locked by nobody
_SPILL_SECONDS = 86_400


def sweep_leftovers(project: Project) -> list[Path]:
    """Remove temporary files and folders whose process is gone; those of a living one stay."""
    return [*sweep([*_in_state(project), *_elsewhere(project)]), *sweep(_old_spills())]


def _in_state(project: Project) -> Iterator[Path]:
    yield from project.home.glob("*.tmp")
    yield from (project.home / "removed").glob(".*.tmp")
    for folder, _, names in os.walk(project.lake):
        yield from (Path(folder, name) for name in names if name.endswith(".tmp"))
    for pattern in (".*.tmp", "*/*.tmp"):
        yield from project.corpora.glob(pattern)
    yield from project.indexes.glob("*/*.tmp")
    for part in ("spent", "logs", "dbt/target"):
        yield from (project.home / part).glob("*.tmp")


def _elsewhere(project: Project) -> Iterator[Path]:
    yield from (project.cache / "clones").glob(".*.tmp")
    for folder in Path(tempfile.gettempdir()).glob("evalake-*"):
        if _OURS.match(folder.name):
            yield folder


def _old_spills() -> Iterator[Path]:
    for folder in Path(tempfile.gettempdir()).glob(_SPILLS):
        with suppress(OSError):
            if time.time() - folder.lstat().st_mtime > _SPILL_SECONDS:
                yield folder
