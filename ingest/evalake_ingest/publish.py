"""Lake files of one ingest or import appear together, or not at all.

They are written beside the lake's tables first, and moved in when all of them are there, the
commit mark last. What a kill left behind is undone by the next ingest or import of the dataset.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evalake_warehouse.lake.schemas import TABLES
from evalake_warehouse.lake.writer import pin_schema
from evalake_warehouse.leftovers import sweep_leftovers
from evalake_warehouse.project import Project

# Tables that are shared by editions of a dataset: the file that is there already is the same.
_SHARED = frozenset({"corpora", "corpus_files", "corpus_symbols"})
# Moved in last: a run counts once its events are there, an edition once its row is.
_MARKS = ("runs", "datasets")
_STAGE = ".staged-"  # before the name of a dataset


@contextmanager
def staged(project: Project, dataset: str) -> Iterator[Path]:
    """A lake folder to write to, whose files join the project's lake when the block ends well.

    One block per dataset at a time: others wait. After an error the lake is as it was before.
    """
    from filelock import FileLock

    project.home.mkdir(parents=True, exist_ok=True)
    sweep_stages(project)
    sweep_leftovers(project)
    stage = project.lake / f"{_STAGE}{dataset}"
    with FileLock(_lock(project, dataset)):
        _clear(project.lake, stage)
        files = stage / "files"
        files.mkdir(parents=True)
        try:
            yield files
            _publish(project.lake, stage, dataset)
        finally:
            _clear(project.lake, stage)


def sweep_stages(project: Project) -> None:
    """Undo what ingests and imports that were killed left, of whatever dataset."""
    from filelock import FileLock, Timeout

    for stage in project.lake.glob(f"{_STAGE}*"):
        dataset = stage.name.removeprefix(_STAGE)
        with suppress(Timeout), FileLock(_lock(project, dataset)).acquire(timeout=0):
            _clear(project.lake, stage)


def _lock(project: Project, dataset: str) -> Path:
    return project.home / f"ingest-{dataset}.lock"


def find_lake_file(lake: Path, table: str, dataset: str, stem: str) -> Path | None:
    """The lake file of that stem, whatever day it was written on."""
    folder = lake / table / f"dataset={dataset}"
    return next(folder.glob(f"run_date=*/{stem}.parquet"), None)


def _publish(lake: Path, stage: Path, dataset: str) -> None:
    files = stage / "files"
    moves: list[str] = []
    for table in (*(name for name in TABLES if name not in _MARKS), *_MARKS):
        for file in sorted((files / table).glob(f"dataset={dataset}/run_date=*/*.parquet")):
            known = find_lake_file(lake, table, dataset, file.stem)
            if known is not None and table in _SHARED:
                continue
            if known is not None:  # of an ingest that was killed before its mark
                known.unlink()
            pin_schema(lake, TABLES[table])
            moves.append(file.relative_to(files).as_posix())
    if not moves:
        return
    _write_journal(stage, moves)
    for move in moves:
        target = lake / move
        target.parent.mkdir(parents=True, exist_ok=True)
        (files / move).replace(target)


def _write_journal(stage: Path, moves: list[str]) -> None:
    temporary = stage / "moves.json.tmp"
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(moves, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(stage / "moves.json")


def _clear(lake: Path, stage: Path) -> None:
    """Remove a stage and what it moved into the lake, unless its mark, the last file, is in."""
    journal = stage / "moves.json"
    if journal.exists():
        moves: list[str] = json.loads(journal.read_text("utf-8"))
        # A file that is not in the stage any more was moved; the mark is moved last.
        if (stage / "files" / moves[-1]).exists():
            for move in moves:
                if not (stage / "files" / move).exists():
                    (lake / move).unlink(missing_ok=True)
        journal.unlink()
    shutil.rmtree(stage, ignore_errors=True)
