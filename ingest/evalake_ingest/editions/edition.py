"""From a loaded benchmark to one edition: its identity and every lake row that belongs to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from evalake_ingest.corpora.store import CorpusFile, StoredCorpus, store_corpus
from evalake_ingest.editions.complete_gold import CorpusFacts, complete_task
from evalake_ingest.editions.splits import (
    SPLIT_RULE,
    SPLIT_RULE_VERSION,
    SPLIT_SEED,
    Member,
    assign_splits,
)
from evalake_ingest.records import CorpusSource, DatasetInfo, Drop, GoldItem, Loaded, Qrel, Task
from evalake_warehouse.errors import DatasetError
from evalake_warehouse.identity import canonical_json, content_hash, sha256_text, task_seed
from evalake_warehouse.project import Project

Row = dict[str, Any]


@dataclass
class Edition:
    """What was really loaded."""

    info: DatasetInfo
    edition: str
    tasks: list[Task]
    drops: list[Drop]
    corpus_ids: dict[str, str]  # corpus name -> id
    sources: dict[str, CorpusSource]  # corpus id -> where it came from
    rows_read: int
    left_out: dict[str, tuple[CorpusFile, ...]]  # corpus id -> what its source has besides
    selection: Mapping[str, Sequence[str]] = field(default_factory=dict)  # what was asked for
    task_hashes: dict[str, str] = field(default_factory=dict)

    @property
    def dropped_by_reason(self) -> dict[str, int]:
        """Rows of the drops table, by reason."""
        return dict(sorted(Counter(drop.reason for drop in self.drops).items()))

    @property
    def lost_rows_by_reason(self) -> dict[str, int]:
        """Source rows that no task was kept of; one with several drops counts once."""
        kept = {task.task_id for task in self.tasks}
        gone = [drop for drop in self.drops if drop.task_id not in kept]
        first = {drop.source_row: drop.reason for drop in reversed(gone)}
        return dict(Counter(first.values()).most_common())


def make_edition(project: Project, loaded: Loaded) -> Edition:
    """Lay out the corpora, check gold against them, and name what came of it.

    Raises:
        DatasetError: nothing was kept, or rows are unaccounted for.
    """
    sources = {source.name: source for source in loaded.corpora}
    facts: dict[str, CorpusFacts | None] = {}
    stored: dict[str, StoredCorpus] = {}
    kept: dict[str, Task] = {}
    dropped: list[Drop] = []
    for task in loaded.tasks:
        if task.task_id in kept:
            source_row = task.source_row or task.task_id
            dropped.append(Drop(source_row, "duplicate_task", evidence=task.task_id))
            continue
        source = sources.get(task.corpus)
        if task.corpus not in facts:
            if source is None:
                raise DatasetError(f"task {task.task_id} names no known corpus: {task.corpus}")
            stored[task.corpus] = corpus = store_corpus(project, source)
            # A corpus without a document stands for one that is not at hand: nothing to check.
            facts[task.corpus] = CorpusFacts(project, corpus) if corpus.paths else None
        completed = complete_task(task, facts[task.corpus])
        dropped += completed.drops
        if completed.task is not None:
            _check_gold_ids(completed.task)
            kept[task.task_id] = completed.task
    # Loaders fill their drops while tasks are read, so they come last.
    drops = [*loaded.drops, *dropped]
    corpus_ids = {name: corpus.corpus_id for name, corpus in stored.items()}
    tasks = list(kept.values())
    _account(loaded, tasks, drops)
    hashes = {task.task_id: _task_hash(task, corpus_ids[task.corpus]) for task in tasks}
    identity = content_hash(
        [
            loaded.info.revision,
            loaded.info.loader_version,
            sorted(hashes.items()),
            *loaded.info.declared,
        ]
    )
    return Edition(
        info=loaded.info,
        edition=identity[:16],
        tasks=tasks,
        drops=drops,
        corpus_ids=corpus_ids,
        sources={identity: sources[name] for name, identity in corpus_ids.items()},
        rows_read=loaded.rows_read,
        selection=loaded.selection,
        left_out={corpus.corpus_id: corpus.left_out for corpus in stored.values()},
        task_hashes=hashes,
    )


def _account(loaded: Loaded, tasks: list[Task], drops: list[Drop]) -> None:
    reasons = Counter(drop.reason for drop in drops)
    told = ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items()))
    if not tasks:
        example = next((f"; {drop.evidence}" for drop in drops if drop.evidence), "")
        raise DatasetError(
            f"no task was kept of {loaded.rows_read} rows read "
            f"({told or 'the source is empty'}{example})",
            where=loaded.info.name,
        )
    kept_rows = {task.source_row or task.task_id for task in tasks}
    lost = {drop.source_row for drop in drops} - kept_rows
    if len(kept_rows) + len(lost) != loaded.rows_read:
        raise DatasetError(
            f"{loaded.rows_read} rows read, but {len(kept_rows)} kept and {len(lost)} dropped: "
            "a row was left out without a reason",
            where=loaded.info.name,
        )


def _check_gold_ids(task: Task) -> None:
    """Qrels name their gold item by id alone, so no two levels of a task may share one."""
    counts = Counter(item.gold_id for item in task.gold)
    if twice := [gold_id for gold_id, count in counts.items() if count > 1]:
        raise DatasetError(f"task {task.task_id} has two gold items named {twice[0]}")


def _task_hash(task: Task, corpus_id: str) -> str:
    return content_hash(
        [
            task.query, dict(task.query_variants), corpus_id, task.kind, dict(task.labels),
            task.repo, task.library, task.qa_type, task.qa_subtype, task.stratum,
            sorted(
                [item.gold_id, item.level, item.grade, item.role, item.truth_method,
                 *sorted(canonical_json(_qrel_fields(qrel)) for qrel in item.qrels)]
                for item in task.gold
            ),
        ]
    )  # fmt: skip


def _qrel_fields(qrel: Qrel) -> list[str | int | None]:
    return [qrel.relation, _key(qrel), qrel.path, qrel.start_line, qrel.end_line]


def _key(qrel: Qrel) -> str | None:
    return sha256_text(qrel.key or "") if qrel.relation == "text" else qrel.key


def edition_rows(edition: Edition, arrival_id: str) -> dict[str, list[Row]]:
    """Lake rows of an edition by table, corpora apart.

    Args:
        arrival_id: the edition's place in the order in which editions arrive.
    """
    scope = {"dataset": edition.info.name, "edition": edition.edition}
    return {
        "tasks": [_task_row(edition, task) for task in edition.tasks],
        "gold": [
            {**scope, "task_id": task.task_id, **_gold_row(item)}
            for task in edition.tasks
            for item in task.gold
        ],
        "qrels": [
            {
                **scope, "task_id": task.task_id, "gold_id": item.gold_id,
                "relation": qrel.relation, "key": _key(qrel), "path": qrel.path,
                "start_line": qrel.start_line, "end_line": qrel.end_line,
            }
            for task in edition.tasks
            for item in task.gold
            for qrel in item.qrels
        ],
        "texts": list(_text_rows(edition)),
        "drops": [
            {
                **scope, "source_row": drop.source_row, "reason": drop.reason,
                "task_id": drop.task_id, "evidence": drop.evidence,
            }
            for drop in edition.drops
        ],
        "splits": list(_split_rows(edition, scope)),
        "datasets": [dataset_row(edition, arrival_id)],
    }  # fmt: skip


def _task_row(edition: Edition, task: Task) -> Row:
    return {
        "dataset": edition.info.name, "edition": edition.edition, "task_id": task.task_id,
        "task_seed": task_seed(edition.info.name, task.task_id), "kind": task.kind,
        "query": task.query, "query_variants_json": canonical_json(dict(task.query_variants)),
        "corpus_id": edition.corpus_ids[task.corpus],
        "labels_json": canonical_json(dict(task.labels)), "repo": task.repo,
        "library": task.library, "qa_type": task.qa_type, "qa_subtype": task.qa_subtype,
        "stratum": task.stratum,
    }  # fmt: skip


def _gold_row(item: GoldItem) -> Row:
    return {
        "gold_id": item.gold_id, "level": item.level, "grade": item.grade, "role": item.role,
        "truth_method": item.truth_method, "evidence": item.evidence,
    }  # fmt: skip


def _text_rows(edition: Edition) -> Iterator[Row]:
    texts = {
        _key(qrel): qrel.key
        for task in edition.tasks
        for item in task.gold
        for qrel in item.qrels
        if qrel.relation == "text"
    }
    for digest, text in sorted(texts.items(), key=lambda pair: str(pair[0])):
        yield {
            "dataset": edition.info.name, "text_sha256": digest, "text": text, "origin": "gold",
        }  # fmt: skip


def _split_rows(edition: Edition, scope: Row) -> Iterable[Row]:
    members = [
        Member(task.task_id, task_seed(edition.info.name, task.task_id), task.stratum)
        for task in edition.tasks
    ]
    rule = edition.info.split_rule
    name = SPLIT_RULE if rule == "hash" else rule
    for assignment in assign_splits(members, rule=rule):
        yield {
            **scope, "task_id": assignment.task_id, "split": assignment.split, "rule": name,
            "rule_version": SPLIT_RULE_VERSION, "seed": SPLIT_SEED,
        }  # fmt: skip


def dataset_row(edition: Edition, arrival_id: str) -> Row:
    """The row of `datasets` that says that an edition arrived."""
    info = edition.info
    return {
        "dataset": info.name, "edition": edition.edition, "revision": info.revision,
        "loader_version": info.loader_version, "source": info.source, "licence": info.licence,
        "citation": info.citation, "caveats": list(info.caveats),
        "primary_level": info.primary_level, "primary_metric": info.primary_metric,
        "default_split": info.default_split, "rows_read": edition.rows_read,
        "rows_kept": len(edition.tasks), "rows_dropped": edition.rows_read - len(edition.tasks),
        "ingested_at": datetime.now(UTC).replace(tzinfo=None), "sha256": info.sha256,
        "strata_label": info.strata_label, "arrival_id": arrival_id,
        "selection_json": canonical_json(dict(edition.selection)) if edition.selection else None,
        "ignore_identical_ids": info.ignore_identical_ids,
    }  # fmt: skip
