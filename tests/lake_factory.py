"""A small lake, written through the real writer, for tests of the warehouse."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalake_warehouse.identity import content_hash, new_run_id, sha256_text, task_seed
from evalake_warehouse.lake.arrivals import next_id
from evalake_warehouse.lake.writer import write_rows

NOW = datetime(2026, 1, 2, 3, 4, 5)
TODAY = NOW.date()


def write_dataset(
    home: Path,
    gold: Mapping[str, Mapping[str, int]],
    *,
    dataset: str = "toy",
    edition: str | None = None,
    level: str = "doc",
    relation: str = "doc_id",
    labels: Mapping[str, Mapping[str, str]] | None = None,
    corpus_id: str = "c0",
    queries: Mapping[str, str] | None = None,
    selection_json: str | None = None,
    ignore_identical_ids: bool = False,
) -> str:
    """Write a dataset edition whose gold is {task: {item: grade}}, and return the edition."""
    edition = (
        edition or content_hash([dataset, {task: dict(items) for task, items in gold.items()}])[:16]
    )
    lake = home / "lake"
    tasks, items, qrels, splits = [], [], [], []
    for task, grades in gold.items():
        base = {"dataset": dataset, "edition": edition, "task_id": task}
        extra = (labels or {}).get(task, {})
        tasks.append(
            base
            | {
                "task_seed": task_seed(dataset, task),
                "kind": "question",
                "query": (queries or {}).get(task, f"query {task}"),
                "query_variants_json": "{}",
                "corpus_id": corpus_id,
                "labels_json": json.dumps({}),
                "repo": extra.get("repo"),
                "qa_type": extra.get("qa_type"),
                "stratum": extra.get("stratum"),
            }
        )
        splits.append(base | {"split": "dev", "rule": "hash", "rule_version": "1", "seed": 0})
        for item, grade in grades.items():
            gold_id = f"{level}:{item}"
            items.append(
                base
                | {
                    "gold_id": gold_id,
                    "level": level,
                    "grade": grade,
                    "role": "primary",
                    "truth_method": "made",
                }
            )
            key = {"path": item} if relation == "file" else {"key": item}
            qrels.append(base | {"gold_id": gold_id, "relation": relation} | key)
    info = {
        "dataset": dataset,
        "edition": edition,
        "revision": "r1",
        "loader_version": "1",
        "source": "made for a test",
        "licence": "none",
        "citation": "none",
        "caveats": [],
        "primary_level": level,
        "primary_metric": "recall@10",
        "default_split": "dev",
        "rows_read": len(gold),
        "rows_kept": len(gold),
        "rows_dropped": 0,
        "ingested_at": NOW,
        "arrival_id": next_id(home),
        "selection_json": selection_json,
        "ignore_identical_ids": ignore_identical_ids,
    }
    tables: dict[str, list[dict[str, Any]]] = {
        "datasets": [info],
        "tasks": tasks,
        "gold": items,
        "qrels": qrels,
        "splits": splits,
    }
    for table, rows in tables.items():
        write_rows(lake, table, rows, dataset=dataset, run_date=TODAY, stem=edition)
    return edition


@dataclass
class RunWriter:
    """Writes one run of a dataset edition; each `attempts` call is one shard."""

    home: Path
    edition: str
    dataset: str = "toy"
    run_id: str = field(default_factory=new_run_id)
    arm_label: str = "arm"
    depth: int = 100
    _parts: Any = field(default_factory=lambda: itertools.count(1), repr=False)

    def event(self, event: str, *, n_tasks: int, **extra: Any) -> None:
        row = {
            "dataset": self.dataset,
            "edition": self.edition,
            "split": "dev",
            "run_id": self.run_id,
            "event": event,
            "at": datetime.now(UTC).replace(tzinfo=None),
            "arm_hash": sha256_text(self.arm_label),
            "arm_label": self.arm_label,
            "system": self.arm_label,
            "system_version": "1",
            "adapter_version": "1",
            "query_variant": "default",
            "output": "ranked",
            "depth": self.depth,
            "seed": 0,
            "repeat": 1,
            "config_json": "{}",
            "config_files_json": "{}",
            "packages_json": "{}",
            "host_json": "{}",
            "n_tasks": n_tasks,
            "jobs": 1,
            "evalake_version": "0",
        } | extra
        self._write("runs", [row])

    def attempts(
        self,
        lists: Mapping[str, Sequence[Mapping[str, Any]] | str],
        *,
        attempt: int = 1,
    ) -> None:
        """One shard: {task: hits best first, or a status such as "error"}."""
        hits, attempts = [], []
        for task, answer in lists.items():
            base = {
                "dataset": self.dataset,
                "run_id": self.run_id,
                "task_id": task,
                "attempt": attempt,
            }
            found = [] if isinstance(answer, str) else list(answer)
            status = answer if isinstance(answer, str) else ("ok" if found else "empty")
            attempts.append(
                base
                | {
                    "edition": self.edition,
                    "status": status,
                    "n_hits": len(found),
                    "n_concurrent": 0,
                    "started_at": NOW,
                }
            )
            for rank, hit in enumerate(found, start=1):
                hits.append(base | {"rank": rank, "item_id": f"#{rank}"} | dict(hit))
        self._write("hits", hits)
        self._write("attempts", attempts)

    def _write(self, table: str, rows: list[dict[str, Any]]) -> None:
        stem = f"{self.run_id}-{next(self._parts):05d}"
        write_rows(self.home / "lake", table, rows, dataset=self.dataset, run_date=TODAY, stem=stem)


def docs(*names: str) -> list[dict[str, Any]]:
    """Hits on documents, best first."""
    return [{"item_id": name, "doc_id": name} for name in names]
