"""Ingest one dataset: load, name the edition, check it, write its lake rows once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq

from evalake_ingest.corpora.store import CorpusFile, StoredCorpus
from evalake_ingest.editions.corpus_rows import write_corpus, write_left_out
from evalake_ingest.editions.edition import Edition, Row, dataset_row, edition_rows, make_edition
from evalake_ingest.names import require_plain_name
from evalake_ingest.publish import find_lake_file, staged
from evalake_ingest.records import CorpusSource, Drop, Loaded
from evalake_warehouse.lake.arrivals import next_id
from evalake_warehouse.lake.editions import read_editions
from evalake_warehouse.lake.writer import write_rows
from evalake_warehouse.project import Project

# An edition without its row here was never finished.
_MARK = "datasets"


@dataclass(frozen=True, slots=True)
class Changes:
    """Ids of tasks added, removed and changed since the edition before."""

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
    drops: tuple[Drop, ...] = ()
    lost_rows_by_reason: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[CorpusFile, ...] = ()  # of the sources of its corpora, as read now


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
    """Write an edition that the lake has not to a stage of it, and what its sources left out."""
    changes = None
    is_new = find_lake_file(project.lake, _MARK, edition.info.name, edition.edition) is None
    if is_new:
        if check is not None:
            step("proving that gold scores 1 and empty 0")
            check(project, edition)
        step("writing")
        changes = compare_with_previous(project, edition)
        write_edition(project, edition, stage)
    for corpus_id, left_out in edition.left_out.items():
        write_left_out(
            project.lake, stage, left_out, corpus_id,
            dataset=edition.info.name, edition=edition.edition,
        )  # fmt: skip
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
        drops=tuple(edition.drops),
        lost_rows_by_reason=edition.lost_rows_by_reason,
        left_out=tuple(file for files in edition.left_out.values() for file in files),
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
    dataset = edition.info.name
    for corpus_id, source in edition.sources.items():
        write_corpus(project, lake, source, corpus_id, dataset=dataset)
    for table, rows in edition_rows(edition, next_id(project.home)).items():
        write_rows(
            lake,
            table,
            rows,
            dataset=edition.info.name,
            run_date=now.date(),
            stem=edition.edition,
        )


def record_corpus(
    project: Project, source: CorpusSource, stored: StoredCorpus, *, dataset: str, edition: str
) -> None:
    """Write the rows of a corpus that tasks of an edition are asked over, besides its own."""
    with staged(project, dataset) as stage:
        write_corpus(project, stage, source, stored.corpus_id, dataset=dataset)
        write_left_out(
            project.lake, stage, stored.left_out, stored.corpus_id, dataset=dataset, edition=edition
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
