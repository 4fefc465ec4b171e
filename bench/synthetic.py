"""Made lakes of a given size, written fast through the real schemas."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa

from evalake_warehouse.identity import new_run_id, sha256_text, task_seed
from evalake_warehouse.lake.schemas import TABLES
from evalake_warehouse.lake.writer import write_rows, write_table

EDITION = "0123456789abcdef"
NOW = datetime(2026, 1, 2, 3, 4, 5)


def write_dataset(lake: Path, *, dataset: str, n_tasks: int, n_docs: int) -> None:
    """One edition with 1 to 5 graded gold documents a task, in ten strata."""
    rng = np.random.default_rng(0)
    tasks, gold, qrels = [], [], []
    for number, golden in enumerate(_gold_names(n_tasks, n_docs)):
        task_id = f"task-{number:05d}"
        base = {"dataset": dataset, "edition": EDITION, "task_id": task_id}
        tasks.append(
            base
            | {
                "task_seed": task_seed(dataset, task_id), "kind": "question",
                "query": f"query {number}", "query_variants_json": "{}", "corpus_id": "c0",
                "labels_json": "{}", "stratum": f"s{number % 10}",
                "qa_type": ("what", "where", "how", "why")[number % 4],
            }
        )  # fmt: skip
        for name in golden:
            gold.append(
                base
                | {
                    "gold_id": name, "level": "doc", "grade": int(rng.integers(1, 4)),
                    "role": "primary", "truth_method": "made",
                }
            )  # fmt: skip
            qrels.append(base | {"gold_id": name, "relation": "doc_id", "key": name})
    info = dataset_row(dataset, level="doc", n_tasks=n_tasks)
    for table, rows in (("datasets", [info]), ("tasks", tasks), ("gold", gold), ("qrels", qrels)):
        write_rows(lake, table, rows, dataset=dataset, run_date=NOW.date(), stem=EDITION)


def dataset_row(dataset: str, *, level: str, n_tasks: int) -> dict[str, object]:
    """A `datasets` row of the one edition there is."""
    return {
        "dataset": dataset, "edition": EDITION, "revision": "r1", "loader_version": "1",
        "source": "made", "licence": "none", "citation": "none", "caveats": [],
        "primary_level": level, "primary_metric": "recall@10", "default_split": "dev",
        "rows_read": n_tasks, "rows_kept": n_tasks, "rows_dropped": 0, "ingested_at": NOW,
    }  # fmt: skip


def _gold_names(n_tasks: int, n_docs: int) -> list[list[str]]:
    rng = np.random.default_rng(7)
    sizes = rng.integers(1, 6, size=n_tasks)
    return [[f"doc-{doc:06d}" for doc in rng.choice(n_docs, size, replace=False)] for size in sizes]


def write_runs(
    lake: Path,
    *,
    dataset: str,
    n_runs: int,
    n_tasks: int,
    n_hits: int,
    n_docs: int,
    seed: int = 1,
    family: str | None = None,
) -> list[str]:
    """Complete runs whose lists find a gold document now and then; returns their ids."""
    rng = np.random.default_rng(seed)
    task_ids = np.array([f"task-{number:05d}" for number in range(n_tasks)])
    docs = np.array([f"doc-{number:06d}" for number in range(n_docs)])
    gold = _gold_names(n_tasks, n_docs)
    run_ids = []
    for number in range(n_runs):
        run_id = new_run_id()
        run_ids.append(run_id)
        offsets = rng.integers(0, n_docs, size=(n_tasks, 1))
        steps = rng.integers(1, n_docs // (n_hits + 1), size=(n_tasks, 1))
        picked = docs[(offsets + steps * np.arange(n_hits)) % n_docs]
        for task, golden in enumerate(gold):  # each gold document is found half of the time
            for name in golden:
                if rng.random() < 0.5:
                    picked[task, min(int(rng.exponential(n_hits / 5)), n_hits - 1)] = name
        rows = n_tasks * n_hits
        hits = {
            "run_id": [run_id] * rows,
            "task_id": np.repeat(task_ids, n_hits),
            "attempt": np.ones(rows, np.int64),
            "rank": np.tile(np.arange(1, n_hits + 1), n_tasks),
            "item_id": picked.ravel(),
            "doc_id": picked.ravel(),
            "score": np.tile(np.linspace(1, 0, n_hits), n_tasks),
        }
        ones = np.ones(n_tasks, np.int64)
        per_task = {"run_id": [run_id] * n_tasks, "task_id": task_ids, "attempt": ones}
        attempts = per_task | {
            "edition": [EDITION] * n_tasks,
            "status": ["ok"] * n_tasks,
            "n_hits": ones * n_hits,
            "n_concurrent": ones * 0,
            "started_at": [NOW] * n_tasks,
        }
        timings = per_task | {
            "phase": ["search"] * n_tasks,
            "temperature": ["warm"] * n_tasks,
            "repeat": ones,
            "seconds": rng.exponential(0.01, n_tasks),
        }
        for table, columns in (("hits", hits), ("attempts", attempts), ("timings", timings)):
            write_arrays(lake, table, dataset, run_id, columns)
        events = [
            run_event(
                dataset,
                run_id,
                number=number,
                event=event,
                n_tasks=n_tasks,
                depth=n_hits,
                family=family,
            )
            for event in ("started", "finished")
        ]
        write_rows(
            lake, "runs", events, dataset=dataset, run_date=NOW.date(), stem=f"{run_id}-00001"
        )
    return run_ids


def run_event(
    dataset: str,
    run_id: str,
    *,
    number: int,
    event: str,
    n_tasks: int,
    depth: int,
    family: str | None,
) -> dict[str, object]:
    """A `runs` row."""
    label = f"arm-{number:04d}"
    return {
        "dataset": dataset, "edition": EDITION, "split": "dev", "run_id": run_id, "event": event,
        "at": NOW + timedelta(seconds=event == "finished"), "arm_hash": sha256_text(label),
        "arm_label": label, "system": "made", "system_version": "1", "adapter_version": "1",
        "query_variant": "default", "output": "ranked", "depth": depth, "seed": 0, "repeat": 1,
        "config_json": "{}", "config_files_json": "{}", "packages_json": "{}", "host_json": "{}",
        "n_tasks": n_tasks, "jobs": 1, "evalake_version": "0", "family": family,
        "role": "baseline" if number == 0 else "candidate", "primary_metric": "recall@10",
        "status": "complete" if event == "finished" else None,
    }  # fmt: skip


def write_arrays(
    lake: Path, table: str, dataset: str, run_id: str, columns: dict[str, Sequence[object]]
) -> None:
    """One per-run file from columns; those left out are NULL."""
    schema = TABLES[table].schema
    rows = len(next(iter(columns.values())))
    columns = columns | {"dataset": [dataset] * rows}
    arrays = [
        pa.array(columns[field.name], field.type)
        if field.name in columns
        else pa.nulls(rows, field.type)
        for field in schema
    ]
    write_table(
        lake, table, pa.Table.from_arrays(arrays, schema=schema),
        dataset=dataset, run_date=NOW.date(), stem=f"{run_id}-00001",
    )  # fmt: skip
