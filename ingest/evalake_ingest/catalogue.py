"""What the lake knows of datasets: editions, rows read, kept and dropped, splits, corpora."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from evalake_ingest.names import absent_dataset, ingested_names
from evalake_ingest.publish import find_lake_file
from evalake_warehouse.errors import UsageError
from evalake_warehouse.lake.editions import read_editions

Row = dict[str, Any]


def list_editions(lake: Path) -> list[Row]:
    """Rows of `datasets`, the latest edition of each dataset first."""
    return read_editions(lake)


def describe(lake: Path, name: str, edition: str | None = None) -> Row:
    """Everything about one edition of a dataset; the latest one unless named.

    Raises:
        UsageError: it is not in the lake.
    """
    editions = [row for row in list_editions(lake) if row["dataset"] == name]
    wanted = [row for row in editions if edition is None or row["edition"].startswith(edition)]
    if not editions:
        raise absent_dataset(name, ingested_names(lake))
    if not wanted:
        known = ", ".join(row["edition"] for row in editions)
        what = f"no edition {edition} of `{name}` in the lake; there are: {known}"
        raise UsageError(what, hint=f"evalake datasets show {name}")
    row = wanted[0]

    def read(table: str) -> list[Row]:
        file = find_lake_file(lake, table, name, row["edition"])
        return pq.ParquetFile(file).read().to_pylist() if file else []

    tasks, gold = read("tasks"), read("gold")
    kept = {task["task_id"] for task in tasks}
    drops = list_drops(lake, name, row["edition"])
    return {
        **row,
        "dropped_by_reason": _counts(drop["reason"] for drop in drops),
        # They add up to rows_dropped: a row that was dropped for several things counts once.
        "rows_dropped_by_reason": _counts(_first_reasons(drops, kept).values()),
        # The others: gold items or citations of rows that were kept without them.
        "dropped_within_kept_rows": _counts(
            drop["reason"] for drop in drops if drop["task_id"] in kept
        ),
        "splits": count_splits(lake, name, row["edition"]),
        "strata": _counts(task["stratum"] for task in tasks if task["stratum"] is not None),
        "kinds": _counts(task["kind"] for task in tasks),
        "repos": _counts(task["repo"] for task in tasks if task["repo"] is not None),
        "libraries": _counts(task["library"] for task in tasks if task["library"] is not None),
        "gold_by_level": _counts(item["level"] for item in gold),
        "gold_by_role": _counts(item["role"] for item in gold),
        "corpora": _corpora(lake, name, {task["corpus_id"] for task in tasks}),
        "other_editions": [other["edition"] for other in editions if other is not row],
    }


def _first_reasons(drops: list[Row], kept: set[str]) -> dict[str, str]:
    """Why each row that was not kept is gone, by source row."""
    gone = [drop for drop in drops if drop["task_id"] not in kept]
    return {drop["source_row"]: drop["reason"] for drop in reversed(gone)}


def list_drops(lake: Path, name: str, edition: str) -> list[Row]:
    """Every row that an edition left out, with its reason and evidence."""
    file = find_lake_file(lake, "drops", name, edition)
    return pq.ParquetFile(file).read().to_pylist() if file else []


def count_splits(lake: Path, name: str, edition: str) -> dict[str, int]:
    """Tasks in each split; the small ones lie within dev and test."""
    file = find_lake_file(lake, "splits", name, edition)
    found = pq.ParquetFile(file).read(columns=["split"]).column("split") if file else []
    counts = _counts(str(split) for split in found)
    return {split: counts[split] for split in ("dev", "test", *counts) if split in counts}


def _corpora(lake: Path, name: str, wanted: set[str]) -> list[Row]:
    rows: list[Row] = []
    for corpus_id in sorted(wanted):
        file = find_lake_file(lake, "corpora", name, corpus_id)
        if file is None:
            continue
        row: Row = pq.ParquetFile(file).read().to_pylist()[0]
        files = find_lake_file(lake, "corpus_files", name, corpus_id)
        statuses = pq.ParquetFile(files).read(columns=["status"]) if files else None
        told = statuses.column("status").to_pylist() if statuses else []
        rows.append({**row, "files_by_status": _counts(told)})
    return sorted(rows, key=lambda row: (row["repo"] or "", row["corpus_id"]))


def _counts(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
