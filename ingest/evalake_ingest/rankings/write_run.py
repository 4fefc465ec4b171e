"""Write a ranking that was made elsewhere as a finished run, with its provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from evalake_ingest.publish import find_lake_file
from evalake_ingest.rankings.answered_paths import AnsweredPaths
from evalake_ingest.rankings.answers import ImportedAnswer, Ranking, Unanswered
from evalake_ingest.rankings.notes import order_note
from evalake_warehouse.errors import UsageError
from evalake_warehouse.identity import canonical_json, content_hash, sha256_text
from evalake_warehouse.lake.arrivals import next_id
from evalake_warehouse.lake.wordings import DEFAULT_VARIANT, read_questions
from evalake_warehouse.lake.writer import write_rows
from evalake_warehouse.project import Project
from evalake_warehouse.scrub import scrub_evidence

ADAPTER_VERSION = "import-1"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """What an import of a ranking did."""

    run_id: str
    is_new: bool
    dataset: str
    edition: str
    depth: int
    longest: int  # hits of the longest list
    n_tasks: int
    n_unanswered: int
    unknown_tasks: Sequence[str] = ()  # answered, but not in the dataset
    notes: Sequence[str] = ()  # what whoever reads its scores should know


def write_ranking(
    project: Project, dataset: str, edition: str, ranking: Ranking, *, lake: Path | None = None
) -> ImportedRun:
    """Write a ranking as one run over all tasks of an edition; the same ranking twice adds nothing.

    A task that the ranking says nothing of is `not_attempted` and scores NULL: a file of
    rankings cannot tell a task that found nothing from one that never ran. With
    `unanswered="empty"` it scores 0, as `trec_eval -c` has it.

    Args:
        lake: where the rows go, and where the edition may be; the project's own if not given.

    Raises:
        UsageError: the ranking answers none of the edition's tasks.
    """
    target = lake or project.lake
    tasks = _read_edition(project, target, "tasks", dataset, edition)
    if not tasks:
        raise UsageError(f"no edition {edition} of {dataset} in the lake", where=str(project.lake))
    corpora = {task["task_id"]: task["corpus_id"] for task in tasks}
    task_ids = sorted(corpora)
    answered = [task_id for task_id in task_ids if task_id in ranking.answers]
    unknown = tuple(sorted(ranking.answers.keys() - set(task_ids)))
    if not answered:
        raise UsageError(
            f"answers no task of {dataset}; its first tasks are {task_ids[:3]}, "
            f"the ranking's {list(unknown[:3])}",
            where=ranking.source_name,
        )
    longest = max(len(ranking.answers[task_id].hits) for task_id in answered)
    depth = ranking.depth or max(longest, 1)
    arm_hash = _arm_hash(ranking, depth)
    splits = _read_edition(project, target, "splits", dataset, edition)
    is_all_dev = {row["task_id"] for row in splits if row["split"] == "dev"} == set(task_ids)
    split = "dev" if is_all_dev else "all"
    known = _known_run(project, target, dataset, (edition, split), arm_hash)
    paths = AnsweredPaths(project)
    rows = _Rows(dataset, edition, ranking, corpora, known or next_id(project.home), depth, paths)
    tables = rows.tables(arm_hash, split)
    if known is None:
        for table, stem, found in tables:
            write_rows(target, table, found, dataset=dataset, run_date=rows.at.date(), stem=stem)
    return ImportedRun(
        run_id=rows.run_id,
        is_new=known is None,
        dataset=dataset,
        edition=edition,
        depth=depth,
        longest=longest,
        n_tasks=len(task_ids),
        n_unanswered=len(task_ids) - len(answered),
        unknown_tasks=unknown,
        notes=tuple(note for note in (paths.note(), order_note(ranking)) if note),
    )


@dataclass
class _Rows:
    """Lake rows of one imported run."""

    dataset: str
    edition: str
    ranking: Ranking
    corpora: Mapping[str, str]  # corpus id of each task
    run_id: str
    depth: int
    paths: AnsweredPaths
    at: datetime = field(default_factory=lambda: datetime.now(UTC).replace(tzinfo=None))
    texts: dict[str, str] = field(default_factory=dict)
    hits: list[Row] = field(default_factory=list)
    timings: list[Row] = field(default_factory=list)
    attempts: list[Row] = field(default_factory=list)

    def tables(self, arm_hash: str, split: str) -> list[tuple[str, str, list[Row]]]:
        """Table, file stem and rows; the events, which make it a run, come last, in one file."""
        for task_id in sorted(self.corpora):
            self._add_task(task_id, self.ranking.answers.get(task_id))
        texts = [
            {"dataset": self.dataset, "text_sha256": digest, "text": text, "origin": "hit"}
            for digest, text in sorted(self.texts.items())
        ]
        event = self._event(arm_hash, split)
        events = [
            {**event, "event": "started"}, {**event, "event": "finished", "status": "finished"},
        ]  # fmt: skip
        return [
            ("texts", self.run_id, texts),
            ("hits", self.run_id, self.hits),
            ("timings", self.run_id, self.timings),
            ("attempts", self.run_id, self.attempts),
            ("runs", f"{self.run_id}-imported", events),
        ]

    def _add_task(self, task_id: str, answer: ImportedAnswer | None) -> None:
        kept = list(answer.hits[: self.depth]) if answer else []
        scope = {
            "dataset": self.dataset, "run_id": self.run_id, "task_id": task_id, "attempt": 1,
        }  # fmt: skip
        self.attempts.append(
            {
                **scope, "edition": self.edition, **_status(answer, self.ranking.unanswered),
                "n_hits": len(kept), "n_concurrent": 0, "started_at": self.at,
                "cost_usd": answer.cost_usd if answer else None,
            }
        )  # fmt: skip
        for rank, hit in enumerate(kept, start=1):
            digest = None
            if hit.text is not None:
                text = scrub_evidence(hit.text)
                digest = sha256_text(text)
                self.texts[digest] = text
            self.hits.append(
                {
                    **scope, "rank": rank, "item_id": hit.item_id, "score": hit.score,
                    "raw_path": hit.path, **self.paths.resolve(self.corpora[task_id], hit.path),
                    "start_line": hit.start_line, "end_line": hit.end_line,
                    "qualified_name": hit.qualified_name, "doc_id": hit.doc_id,
                    "title": hit.title, "text_sha256": digest,
                }
            )  # fmt: skip
        if answer and answer.seconds is not None:
            self.timings.append(
                {
                    **scope, "phase": "search", "temperature": "warm", "repeat": 1,
                    "seconds": answer.seconds,
                }
            )  # fmt: skip

    def _event(self, arm_hash: str, split: str) -> Row:
        ranking = self.ranking
        config = {
            "format": ranking.source_format, "depth": self.depth, "unanswered": ranking.unanswered,
        }  # fmt: skip
        told = [f"imported {ranking.source_format} {ranking.source_name}"]
        return {
            "dataset": self.dataset, "edition": self.edition, "split": split,
            "run_id": self.run_id, "at": self.at, "arm_hash": arm_hash,
            "arm_label": ranking.label, "system": ranking.system,
            "system_version": ranking.system_version, "adapter_version": ADAPTER_VERSION,
            "query_variant": "default", "output": "ranked", "depth": self.depth, "seed": 0,
            "repeat": 1, "config_json": canonical_json(config),
            "config_files_json": canonical_json({ranking.source_name: ranking.source_sha256}),
            "packages_json": "{}", "host_json": "{}", "n_tasks": len(self.corpora), "jobs": 0,
            "evalake_version": _evalake_version(),
            "provenance": "; ".join([*told, *([ranking.note] if ranking.note else [])]),
        }  # fmt: skip


def _status(answer: ImportedAnswer | None, unanswered: Unanswered) -> Row:
    if answer is None:
        return {"status": unanswered, "reason": "not in the imported ranking"}
    status = answer.status or ("ok" if answer.hits else "empty")
    return {"status": status, "reason": answer.reason}


def _evalake_version() -> str:
    try:
        return metadata.version("evalake")
    except metadata.PackageNotFoundError:  # run from a source tree that is not installed
        return "unknown"


def _arm_hash(ranking: Ranking, depth: int) -> str:
    return content_hash(
        {
            "label": ranking.label, "system": ranking.system, "version": ranking.system_version,
            "adapter": ADAPTER_VERSION, "source": ranking.source_sha256, "depth": depth,
            "unanswered": ranking.unanswered,
        }
    )  # fmt: skip


def _read_edition(
    project: Project, lake: Path, table: str, dataset: str, edition: str
) -> list[Row]:
    """Rows of an edition, from a lake that may have it or from the project's own."""
    for place in (lake, project.lake):
        if (file := find_lake_file(place, table, dataset, edition)) is not None:
            rows: list[Row] = pq.ParquetFile(file).read().to_pylist()
            return rows
    return []


def _known_run(
    project: Project, lake: Path, dataset: str, scope: tuple[str, str], arm_hash: str
) -> str | None:
    """Run id of the same ranking, imported before on tasks that ask the same; gold may differ.

    Args:
        scope: edition and split of the ranking at hand.
    """
    edition, split = scope
    columns = ["run_id", "arm_hash", "edition", "split", "event"]
    folder = project.lake / "runs" / f"dataset={dataset}"
    for file in sorted(folder.glob("run_date=*/*.parquet")):
        for row in pq.ParquetFile(file).read(columns=columns).to_pylist():
            is_same = (row["arm_hash"], row["split"], row["event"]) == (arm_hash, split, "finished")
            if is_same and _asks_the_same(project, lake, dataset, row["edition"], edition):
                return str(row["run_id"])
    return None


def _asks_the_same(project: Project, lake: Path, dataset: str, before: str, now: str) -> bool:
    """Whether one edition asked all that another asks."""
    if before == now:
        return True
    files = [
        file
        for edition in (before, now)
        for place in (project.lake, lake)
        if (file := find_lake_file(place, "tasks", dataset, edition)) is not None
    ]
    questions = read_questions(files, DEFAULT_VARIANT)
    return questions.get(before, {}).items() >= questions.get(now, {}).items()
