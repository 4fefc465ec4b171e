"""What the lake knows of datasets: editions, rows read, kept and dropped, splits, corpora."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from shlex import quote
from typing import Any

import pyarrow.parquet as pq

from evalake_ingest.editions.corpus_rows import last_reading
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
        raise UsageError(what, hint=f"evalake datasets show {quote(name)}")
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
        "corpora": _corpora(lake, row, {task["corpus_id"] for task in tasks}),
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


def list_left_out(lake: Path, name: str, edition: str) -> list[Row]:
    """Every file that the corpora of an edition were stored without, as its source was last read.

    A folder that was left out whole is one row, with the number of its files.
    """
    file = find_lake_file(lake, "tasks", name, edition)
    found = pq.ParquetFile(file).read(columns=["corpus_id"]).column(0) if file else []
    corpus_ids = sorted({str(corpus_id) for corpus_id in found})
    return [row for one in corpus_ids for row in _left_out(lake, name, edition, one)]


def _left_out(lake: Path, name: str, edition: str, corpus_id: str) -> list[Row]:
    number, rows = last_reading(lake, name, corpus_id, edition)
    if number:
        return rows
    # A lake of an earlier version has them beside the files of the corpus.
    return [row for row in _files(lake, name, corpus_id) if row["status"].startswith("skipped_")]


def _files(lake: Path, name: str, corpus_id: str) -> list[Row]:
    file = find_lake_file(lake, "corpus_files", name, corpus_id)
    return pq.ParquetFile(file).read().to_pylist() if file else []


def _corpora(lake: Path, dataset: Row, wanted: set[str]) -> list[Row]:
    rows: list[Row] = []
    name = dataset["dataset"]
    for corpus_id in sorted(wanted):
        file = find_lake_file(lake, "corpora", name, corpus_id)
        if file is None:
            continue
        row: Row = pq.ParquetFile(file).read().to_pylist()[0]
        files = [
            file
            for file in _files(lake, name, corpus_id)
            if not file["status"].startswith("skipped_")
        ]
        left_out = _count_files(_left_out(lake, name, dataset["edition"], corpus_id))
        languages = [file.get("language") for file in files]
        unread = [file["language"] for file in files if _has_no_definitions(file)]
        rows.append(
            {
                "rule": None, **row,
                "files_by_status": _counts(file["status"] for file in files) | left_out,
                "left_out_by_status": left_out,
                "languages": _counts(language for language in languages if language is not None),
                "languages_without_definitions": _counts(unread),
            }
        )  # fmt: skip
    return sorted(rows, key=lambda row: (row["repo"] or "", row["corpus_id"]))


def _count_files(left_out: list[Row]) -> dict[str, int]:
    """Files by the reason they were left out for; a folder counts as the files that it holds."""
    counts: Counter[str] = Counter()
    for row in left_out:
        counts[row["status"]] += row.get("n_files") or 1
    return dict(sorted(counts.items()))


def _has_no_definitions(file: Row) -> bool:
    """Whether a file's language is one whose definitions are not read."""
    return file.get("language") is not None and file.get("n_symbols") is None


def _counts(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
