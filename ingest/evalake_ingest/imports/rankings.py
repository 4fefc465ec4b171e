"""Write a ranking that was made elsewhere as a finished run, with its provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import pyarrow.parquet as pq

from evalake_ingest.corpora.paths import clean_path
from evalake_ingest.corpora.store import open_corpus
from evalake_ingest.publish import find_lake_file
from evalake_warehouse.errors import UsageError
from evalake_warehouse.identity import canonical_json, content_hash, sha256_text
from evalake_warehouse.lake.arrivals import next_id
from evalake_warehouse.lake.writer import write_rows
from evalake_warehouse.project import Project
from evalake_warehouse.scrub import scrub_evidence

ADAPTER_VERSION = "import-1"

Unanswered = Literal["not_attempted", "empty"]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ImportedHit:
    """One retrieved item; its rank is its place in the list."""

    item_id: str
    score: float | None = None
    path: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    qualified_name: str | None = None
    doc_id: str | None = None
    title: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ImportedAnswer:
    """What a system answered to one task."""

    hits: Sequence[ImportedHit] = ()
    status: str | None = None  # None: ok with hits, empty without
    reason: str | None = None
    seconds: float | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """All answers of one system, and where they come from."""

    label: str
    source_format: str  # trec | jsonl
    source_name: str  # file name, without its folder
    source_sha256: str
    answers: Mapping[str, ImportedAnswer]
    system: str = "imported"
    system_version: str = "unknown"
    depth: int | None = None  # None: the longest list
    unanswered: Unanswered = "not_attempted"
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """What an import of a ranking did."""

    run_id: str
    is_new: bool
    dataset: str
    edition: str
    depth: int
    n_tasks: int
    n_unanswered: int
    unknown_tasks: Sequence[str] = field(default_factory=tuple)  # answered, but not in the dataset


def write_ranking(project: Project, dataset: str, edition: str, ranking: Ranking) -> ImportedRun:
    """Write a ranking as one run over all tasks of an edition; the same ranking twice adds nothing.

    A task that the ranking says nothing of is `not_attempted` and scores NULL: a file of
    rankings cannot tell a task that found nothing from one that never ran. With
    `unanswered="empty"` it scores 0, as `trec_eval -c` has it.

    Raises:
        UsageError: the ranking answers none of the edition's tasks.
    """
    corpora = _task_corpora(project, dataset, edition)
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
    known = _known_run(project, dataset, edition, arm_hash)
    run_id = known or next_id(project.home)
    if known is None:
        now = datetime.now(UTC).replace(tzinfo=None)
        _write(
            project, dataset=dataset, edition=edition, ranking=ranking, corpora=corpora,
            run_id=run_id, arm_hash=arm_hash, depth=depth, now=now,
        )  # fmt: skip
    return ImportedRun(
        run_id=run_id,
        is_new=known is None,
        dataset=dataset,
        edition=edition,
        depth=depth,
        n_tasks=len(task_ids),
        n_unanswered=len(task_ids) - len(answered),
        unknown_tasks=unknown,
    )


def _write(
    project: Project, *, dataset: str, edition: str, ranking: Ranking, corpora: Mapping[str, str],
    run_id: str, arm_hash: str, depth: int, now: datetime,
) -> None:  # fmt: skip
    paths = _Paths(project)
    task_ids = sorted(corpora)
    attempts: list[Row] = []
    hits: list[Row] = []
    timings: list[Row] = []
    texts: dict[str, str] = {}
    for task_id in task_ids:
        answer = ranking.answers.get(task_id)
        kept = list(answer.hits[:depth]) if answer else []
        scope = {"dataset": dataset, "run_id": run_id, "task_id": task_id, "attempt": 1}
        attempts.append(
            {
                **scope, "edition": edition, **_status(answer, ranking.unanswered),
                "n_hits": len(kept), "n_concurrent": 0, "started_at": now,
                "cost_usd": answer.cost_usd if answer else None,
            }
        )  # fmt: skip
        for rank, hit in enumerate(kept, start=1):
            digest = None
            if hit.text is not None:
                text = scrub_evidence(hit.text)
                digest = sha256_text(text)
                texts[digest] = text
            hits.append(
                {
                    **scope, "rank": rank, "item_id": hit.item_id, "score": hit.score,
                    "raw_path": hit.path, **paths.resolve(corpora[task_id], hit.path),
                    "start_line": hit.start_line, "end_line": hit.end_line,
                    "qualified_name": hit.qualified_name, "doc_id": hit.doc_id,
                    "title": hit.title, "text_sha256": digest,
                }
            )  # fmt: skip
        if answer and answer.seconds is not None:
            timings.append(
                {
                    **scope, "phase": "search", "temperature": "warm", "repeat": 1,
                    "seconds": answer.seconds,
                }
            )  # fmt: skip
    event = _event_row(
        dataset=dataset,
        edition=edition,
        ranking=ranking,
        run_id=run_id,
        arm_hash=arm_hash,
        depth=depth,
        n_tasks=len(task_ids),
        now=now,
    )  # fmt: skip, now)
    tables: list[tuple[str, str, list[Row]]] = [
        ("runs", f"{run_id}-started", [{**event, "event": "started"}]),
        ("texts", run_id, _text_rows(dataset, texts)),
        ("hits", run_id, hits),
        ("timings", run_id, timings),
        ("attempts", run_id, attempts),
        ("runs", f"{run_id}-finished", [{**event, "event": "finished", "status": "finished"}]),
    ]
    for table, stem, rows in tables:
        write_rows(project.lake, table, rows, dataset=dataset, run_date=now.date(), stem=stem)


def _status(answer: ImportedAnswer | None, unanswered: Unanswered) -> Row:
    if answer is None:
        return {"status": unanswered, "reason": "not in the imported ranking"}
    status = answer.status or ("ok" if answer.hits else "empty")
    return {"status": status, "reason": answer.reason}


def _event_row(
    *, dataset: str, edition: str, ranking: Ranking, run_id: str, arm_hash: str, depth: int,
    n_tasks: int, now: datetime,
) -> Row:  # fmt: skip
    config = {
        "format": ranking.source_format, "depth": depth, "unanswered": ranking.unanswered,
    }  # fmt: skip
    told = [f"imported {ranking.source_format} {ranking.source_name}"]
    return {
        "dataset": dataset, "edition": edition, "split": "all", "run_id": run_id, "at": now,
        "arm_hash": arm_hash, "arm_label": ranking.label, "system": ranking.system,
        "system_version": ranking.system_version, "adapter_version": ADAPTER_VERSION,
        "query_variant": "default", "output": "ranked", "depth": depth, "seed": 0, "repeat": 1,
        "config_json": canonical_json(config),
        "config_files_json": canonical_json({ranking.source_name: ranking.source_sha256}),
        "packages_json": "{}", "host_json": "{}", "n_tasks": n_tasks, "jobs": 0,
        "evalake_version": _evalake_version(),
        "provenance": "; ".join([*told, *([ranking.note] if ranking.note else [])]),
    }  # fmt: skip


def _evalake_version() -> str:
    try:
        return metadata.version("evalake")
    except metadata.PackageNotFoundError:  # run from a source tree that is not installed
        return "unknown"


def _text_rows(dataset: str, texts: Mapping[str, str]) -> list[Row]:
    return [
        {"dataset": dataset, "text_sha256": digest, "text": text, "origin": "hit"}
        for digest, text in sorted(texts.items())
    ]


def _arm_hash(ranking: Ranking, depth: int) -> str:
    return content_hash(
        {
            "label": ranking.label, "system": ranking.system, "version": ranking.system_version,
            "adapter": ADAPTER_VERSION, "source": ranking.source_sha256, "depth": depth,
            "unanswered": ranking.unanswered,
        }
    )  # fmt: skip


@dataclass
class _Paths:
    """Which answered paths are files of their task's corpus."""

    project: Project
    known: dict[str, frozenset[str]] = field(default_factory=dict)

    def resolve(self, corpus_id: str, raw: str | None) -> Row:
        """Columns `path` and `path_status` of a hit; a corpus not at hand is taken at its word."""
        if raw is None:
            return {"path": None, "path_status": None}
        if corpus_id not in self.known:
            self.known[corpus_id] = frozenset(_paths(self.project, corpus_id))
        path = clean_path(raw)
        if path is not None and path in (self.known[corpus_id] or {path}):
            return {"path": path, "path_status": "resolved"}
        return {"path": None, "path_status": "unresolved"}


def _paths(project: Project, corpus_id: str) -> tuple[str, ...]:
    try:
        return open_corpus(project, corpus_id).paths
    except UsageError:
        return ()


def _task_corpora(project: Project, dataset: str, edition: str) -> dict[str, str]:
    """Corpus id of every task."""
    file = find_lake_file(project.lake, "tasks", dataset, edition)
    if file is None:
        raise UsageError(f"no edition {edition} of {dataset} in the lake", where=str(project.lake))
    rows = pq.ParquetFile(file).read(columns=["task_id", "corpus_id"]).to_pylist()
    return {row["task_id"]: row["corpus_id"] for row in rows}


def _known_run(project: Project, dataset: str, edition: str, arm_hash: str) -> str | None:
    """Run id of the same ranking, imported and finished before."""
    columns = ["run_id", "arm_hash", "edition"]
    for file in sorted(_run_files(project.lake, dataset)):
        for row in pq.ParquetFile(file).read(columns=columns).to_pylist():
            if row["arm_hash"] == arm_hash and row["edition"] == edition:
                return str(row["run_id"])
    return None


def _run_files(lake: Path, dataset: str) -> list[Path]:
    return list((lake / "runs" / f"dataset={dataset}").glob("run_date=*/*-finished.parquet"))
