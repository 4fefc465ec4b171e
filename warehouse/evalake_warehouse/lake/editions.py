"""The dataset editions of a lake, in order of arrival."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from evalake_warehouse.lake.reader import sql_literal
from evalake_warehouse.lake.schemas import TABLES

Row = dict[str, Any]


def read_editions(lake: Path, dataset: str | None = None) -> list[Row]:
    """Rows of `datasets`, one per edition: datasets by name, their latest edition first."""
    folder = f"dataset={dataset}" if dataset is not None else "dataset=*"
    return editions_in(sorted((lake / "datasets").glob(f"{folder}/run_date=*/*.parquet")))


def editions_in(files: Iterable[Path]) -> list[Row]:
    """Rows of some files of `datasets`, the last arrival of each edition alone, in the same order.

    An edition that was ingested once more, after another one, is the latest again. Editions of
    lakes older than arrival ids come before all others, by the time of their ingest. Torn files are
    left out.
    """
    latest: dict[tuple[str, str], Row] = {}
    for row in sorted(_rows_of(files), key=_arrival):
        latest[row["dataset"], row["edition"]] = row
    found = sorted(latest.values(), key=_arrival, reverse=True)
    return sorted(found, key=lambda row: str(row["dataset"]))


def judgements_sql(table: str, editions: Mapping[str, str]) -> str:
    """A statement that makes a temporary table of the edition that judges each run."""
    rows = ", ".join(
        f"({sql_literal(run_id)}, {sql_literal(edition)})" for run_id, edition in editions.items()
    )
    return (
        f"create or replace temp table {table} as select * "
        f"from (values {rows or '(null, null)'}) as judged (run_id, edition) "
        "where run_id is not null"
    )


def _arrival(row: Row) -> tuple[str, Any]:
    return row["arrival_id"] or "", row["ingested_at"]


def _rows_of(files: Iterable[Path]) -> Iterator[Row]:
    columns = dict.fromkeys(TABLES["datasets"].schema.names)
    for file in files:
        try:
            rows: list[Row] = pq.ParquetFile(file).read().to_pylist()
        except (pa.ArrowInvalid, OSError):
            continue
        yield from ({**columns, **row} for row in rows)
