"""Ingest one dataset: load, name the edition, check it, write its lake rows once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from evalake_ingest.corpora.store import load_symbols, read_files
from evalake_ingest.editions import Edition, Row, dataset_row, edition_rows, make_edition
from evalake_ingest.names import require_plain_name
from evalake_ingest.publish import find_lake_file, staged
from evalake_ingest.records import Loaded
from evalake_warehouse.lake.arrivals import next_id
from evalake_warehouse.lake.editions import read_editions
from evalake_warehouse.lake.writer import write_columns, write_rows
from evalake_warehouse.project import Project
from evalake_warehouse.relevance.fingerprint import FINGERPRINT_RULE

# An edition without its row here was never finished.
_MARK = "datasets"


@dataclass(frozen=True, slots=True)
class Changes:
    """Tasks of an edition against the one ingested before it."""

    previous_edition: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ingested:
    """What an ingest did."""

    dataset: str
    edition: str
    is_new: bool
    rows_read: int
    rows_kept: int
    rows_dropped: int
    dropped_by_reason: Mapping[str, int] = field(default_factory=dict)
    changes: Changes | None = None
    is_latest_again: bool = False  # it was there, and another edition came after it


Check = Callable[[Project, Edition], None]
Progress = Callable[[str], None]


def ingest(
    project: Project, loaded: Loaded, *, check: Check | None, on_step: Progress | None = None
) -> Ingested:
    """Write one edition to the lake; an edition that is there already adds nothing.

    Args:
        check: raises before anything is written, where `gold` and `empty` do not score 1 and 0.
        on_step: told what happens, in a few words a step.

    Raises:
        DatasetError: nothing kept, rows unaccounted for, or the check failed.
    """
    require_plain_name(loaded.info.name)
    step = on_step or (lambda _: None)
    step("laying out corpora and checking gold against them")
    edition = make_edition(project, loaded)
    with staged(project, edition.info.name) as stage:
        return stage_edition(project, edition, stage, check=check, step=step)


def stage_edition(
    project: Project, edition: Edition, stage: Path, *, check: Check | None, step: Progress
) -> Ingested:
    """Write an edition that the lake has not to a stage of it."""
    changes = None
    is_new = find_lake_file(project.lake, _MARK, edition.info.name, edition.edition) is None
    if is_new:
        if check is not None:
            step("proving that gold scores 1 and empty 0")
            check(project, edition)
        step("writing")
        changes = compare_with_previous(project, edition)
        write_edition(project, edition, stage)
    latest = latest_edition(project.lake, edition.info.name)
    is_latest_again = not is_new and latest != edition.edition
    if is_latest_again:
        _arrive_again(project, edition, stage)
    return Ingested(
        dataset=edition.info.name,
        edition=edition.edition,
        is_new=is_new,
        rows_read=edition.rows_read,
        rows_kept=len(edition.tasks),
        rows_dropped=edition.rows_read - len(edition.tasks),
        dropped_by_reason=edition.dropped_by_reason,
        changes=changes,
        is_latest_again=is_latest_again,
    )


def _arrive_again(project: Project, edition: Edition, lake: Path) -> None:
    """Note that an edition of the lake arrived once more, which makes it the latest."""
    arrival_id = next_id(project.home)
    write_rows(
        lake,
        _MARK,
        [dataset_row(edition, arrival_id)],
        dataset=edition.info.name,
        run_date=datetime.now(UTC).date(),
        stem=f"{edition.edition}-{arrival_id}",
    )


def write_edition(project: Project, edition: Edition, lake: Path) -> None:
    """Write the rows of an edition and of its corpora to a lake that has none of them."""
    now = datetime.now(UTC)
    for corpus_id in edition.sources:
        _write_corpus(project, lake, edition, corpus_id, now)
    for table, rows in edition_rows(edition, next_id(project.home)).items():
        write_rows(
            lake,
            table,
            rows,
            dataset=edition.info.name,
            run_date=now.date(),
            stem=edition.edition,
        )


def compare_with_previous(project: Project, edition: Edition) -> Changes | None:
    """Which tasks differ from the edition ingested last; None for a first one."""
    previous = latest_edition(project.lake, edition.info.name)
    if previous is None:
        return None
    before = _task_digests(project.lake, edition.info.name, previous)
    after = _digests_of_rows(edition_rows(edition, ""))
    return Changes(
        previous_edition=previous,
        added=tuple(sorted(after.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
        changed=tuple(
            sorted(name for name in before.keys() & after.keys() if before[name] != after[name])
        ),
    )


def latest_edition(lake: Path, dataset: str) -> str | None:
    """The edition of a dataset that was ingested last."""
    rows = read_editions(lake, dataset)
    return str(rows[0]["edition"]) if rows else None


def _task_digests(lake: Path, dataset: str, edition: str) -> dict[str, int]:
    tables: dict[str, list[Row]] = {}
    for table in ("tasks", "gold", "qrels"):
        file = find_lake_file(lake, table, dataset, edition)
        tables[table] = pq.ParquetFile(file).read().to_pylist() if file else []
    return _digests_of_rows(tables)


def _digests_of_rows(tables: Mapping[str, list[Row]]) -> dict[str, int]:
    """Order-free digest of everything the lake says of a task; equal rows, equal digest."""
    lines: dict[str, list[str]] = {row["task_id"]: [] for row in tables["tasks"]}
    for table in ("tasks", "gold", "qrels"):
        for row in tables[table]:
            told = sorted((name, value) for name, value in row.items() if name != "edition")
            lines[row["task_id"]].append(f"{table}{told}")
    return {task_id: hash(tuple(sorted(told))) for task_id, told in lines.items()}


def _write_corpus(
    project: Project, lake: Path, edition: Edition, corpus_id: str, now: datetime
) -> None:
    dataset = edition.info.name
    source = edition.sources[corpus_id]
    files = read_files(project, corpus_id)
    symbols = load_symbols(project, corpus_id) if source.kind == "files" else []
    stored = [file for file in files if file.stored]
    n_files, n_symbols = len(files), len(symbols)
    tables: dict[str, dict[str, list[Any]]] = {
        "corpus_files": {
            "dataset": [dataset] * n_files, "corpus_id": [corpus_id] * n_files,
            "path": [file.path for file in files], "sha256": [file.sha256 for file in files],
            "n_bytes": [file.n_bytes for file in files], "status": [file.status for file in files],
            "n_lines": [file.n_lines for file in files], "detail": [file.detail for file in files],
        },
        "corpus_symbols": {
            "dataset": [dataset] * n_symbols, "corpus_id": [corpus_id] * n_symbols,
            "path": [symbol.path for symbol in symbols],
            "qualified_name": [symbol.qualified_name for symbol in symbols],
            "symbol": [symbol.symbol for symbol in symbols],
            "symbol_kind": [symbol.kind for symbol in symbols],
            "start_line": [symbol.start_line for symbol in symbols],
            "end_line": [symbol.end_line for symbol in symbols],
            "fingerprint": [symbol.fingerprint for symbol in symbols],
            "rule_version": [FINGERPRINT_RULE] * n_symbols,
        },
        "corpora": {
            "dataset": [dataset], "corpus_id": [corpus_id], "kind": [source.kind],
            "origin": [source.origin], "n_files": [len(stored)],
            "n_bytes": [sum(file.n_bytes for file in stored)], "n_symbols": [n_symbols],
            "created_at": [now.replace(tzinfo=None)], "repo": [source.repo],
            "commit": [source.commit],
        },
    }  # fmt: skip
    for table, columns in tables.items():
        # Another fingerprint rule reads the same corpus anew, beside what an earlier one read.
        stem = f"{corpus_id}-{FINGERPRINT_RULE}" if table == "corpus_symbols" else corpus_id
        write_columns(lake, table, columns, dataset=dataset, run_date=now.date(), stem=stem)
