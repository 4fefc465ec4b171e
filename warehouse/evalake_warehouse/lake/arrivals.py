"""Ids in the order in which things arrive in a lake, whatever the clock says.

Runs, builds and dataset editions take their ids here. An id is always greater than every id that
the lake gave out before, so that the latest of them is the greatest, also after a clock was set
back.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from evalake_warehouse.identity import new_run_id
from evalake_warehouse.lake.schemas import TABLES
from evalake_warehouse.scratch import replacing

_MARK = "last-arrival"
_ID_LENGTH = 36


def next_id(home: Path) -> str:
    """A time-ordered id that is greater than all earlier ones of this lake."""
    from filelock import FileLock

    home.mkdir(parents=True, exist_ok=True)
    mark = home / _MARK
    with FileLock(home / f"{_MARK}.lock"):
        arrived = new_run_id(after=_read(mark) or max(_ids_in(home / "lake"), default=None))
        with replacing(mark) as file:
            file.write(arrived.encode())
    return arrived


def _read(mark: Path) -> str | None:
    """The last id given out; None where the note is missing or damaged."""
    try:
        return str(uuid.UUID(mark.read_text()))
    except (OSError, ValueError):
        return None


def _ids_in(lake: Path) -> Iterator[str]:
    """Ids of runs and editions, for a lake that was copied here without its note."""
    for table in (name for name, declared in TABLES.items() if declared.per_run):
        for file in (lake / table).glob("dataset=*/run_date=*/*.parquet"):
            if _is_id(file.name[:_ID_LENGTH]):
                yield file.name[:_ID_LENGTH]
    for file in (lake / "datasets").glob("dataset=*/run_date=*/*.parquet"):
        try:
            arrivals = pq.ParquetFile(file).read(columns=["arrival_id"]).column(0).to_pylist()
        except (OSError, ValueError, LookupError):  # torn, or of a version without arrivals
            continue
        yield from (arrived for arrived in arrivals if arrived and _is_id(arrived))


def _is_id(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False
