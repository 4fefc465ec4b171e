"""Judge a million cached text pairs by another threshold: a query, not a run."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.measure import measure_python, ratio_line
from bench.saved_models import load_models, save_models
from bench.synthetic import EDITION, NOW, dataset_row, run_event, write_arrays
from evalake_warehouse.lake.writer import write_rows
from evalake_warehouse.relevance.text_scores import SCORER, SCORER_VERSION, TEXT_FLOOR

N_TASKS, N_HITS = 1_000, 1_000
RUN_ID = "0" * 36


def main() -> None:
    """Print CPU seconds of matching a million scored pairs, and of scoring a thousand of them."""
    with tempfile.TemporaryDirectory() as folder:
        _write_lake(Path(folder) / "lake")
        save_models(Path(folder))
        ours = measure_python("bench.rejudge", "judge", folder)
        print(ratio_line("judge 1,000,000 pairs", ours, ours))
        scored = measure_python("bench.rejudge", "score", folder)
        print(ratio_line("score 1,000 pairs", scored, ours))


def judge(home: Path) -> None:
    """The compiled matching model over cached scores, at another threshold."""
    import duckdb

    from evalake_warehouse.build.compiled_models import lay_out, run_models

    models = load_models(home)
    matches = models.sql["int_hit_matches"].replace(">= 85", ">= 75")
    with duckdb.connect() as connection:
        connection.execute("set threads = 1")  # as in bench.metrics: CPU time is what counts
        lay_out(connection, models, home)
        run_models(
            connection,
            replace(models, sql=models.sql | {"int_hit_matches": matches}),
            "int_hit_matches",
        )
        found = connection.execute("select count(*) from int_hit_matches").fetchone()
        print(found)


def score(_: Path) -> None:
    """What a suite that keeps no scores does for each pair, each time."""
    from rapidfuzz import fuzz

    rng = np.random.default_rng(0)
    words = np.array([f"word{number}" for number in range(2_000)])
    texts = [" ".join(rng.choice(words, 300)) for _ in range(1_000)]
    for first, second in zip(texts, reversed(texts), strict=True):
        fuzz.partial_ratio(first, second, score_cutoff=TEXT_FLOOR)


def _write_lake(lake: Path) -> None:
    rng = np.random.default_rng(0)
    rows = N_TASKS * N_HITS
    task_ids = np.array([f"task-{number:05d}" for number in range(N_TASKS)])
    texts = np.array([f"{number:064x}" for number in range(rows)])
    gold = np.array([f"{number:064x}" for number in range(rows, rows + N_TASKS)])
    _write_dataset(lake, task_ids, gold)
    event = run_event(
        "bench", RUN_ID, number=1, event="started", n_tasks=N_TASKS, depth=N_HITS, family=None
    )
    write_rows(lake, "runs", [event], dataset="bench", run_date=NOW.date(), stem=RUN_ID)
    ones = np.ones(N_TASKS, np.int64)
    attempts = {
        "run_id": [RUN_ID] * N_TASKS,
        "edition": [EDITION] * N_TASKS,
        "task_id": task_ids,
        "attempt": ones,
        "status": ["ok"] * N_TASKS,
        "n_hits": ones * N_HITS,
        "n_concurrent": ones * 0,
        "started_at": [NOW] * N_TASKS,
    }
    hits = {
        "run_id": [RUN_ID] * rows,
        "task_id": np.repeat(task_ids, N_HITS),
        "attempt": np.ones(rows, np.int64),
        "rank": np.tile(np.arange(1, N_HITS + 1), N_TASKS),
        "item_id": texts,
        "text_sha256": texts,
    }
    scores = {
        "text_sha256": texts,
        "gold_sha256": np.repeat(gold, N_HITS),
        "scorer": [SCORER] * rows,
        "scorer_version": [SCORER_VERSION] * rows,
        "floor": [TEXT_FLOOR] * rows,
        "below_floor": np.zeros(rows, bool),
        "text_chars": np.full(rows, 500),
        "gold_chars": np.full(rows, 500),
        "score": rng.uniform(TEXT_FLOOR, 100, rows),
    }
    for table, columns in (("attempts", attempts), ("hits", hits), ("text_scores", scores)):
        write_arrays(lake, table, "bench", RUN_ID, columns)


def _write_dataset(lake: Path, task_ids: Iterable[str], gold: Iterable[str]) -> None:
    tasks, items, qrels = [], [], []
    for task_id, key in zip(task_ids, gold, strict=True):
        base = {"dataset": "bench", "edition": EDITION, "task_id": task_id}
        tasks.append(
            base
            | {
                "task_seed": 0, "kind": "code", "query": "q", "query_variants_json": "{}",
                "corpus_id": "c0", "labels_json": "{}",
            }
        )  # fmt: skip
        items.append(
            base
            | {
                "gold_id": "g",
                "level": "doc",
                "grade": 1,
                "role": "primary",
                "truth_method": "made",
            }
        )
        qrels.append(base | {"gold_id": "g", "relation": "text", "key": key})
    info = dataset_row("bench", level="doc", n_tasks=N_TASKS)
    for table, rows in (("datasets", [info]), ("tasks", tasks), ("gold", items), ("qrels", qrels)):
        write_rows(lake, table, rows, dataset="bench", run_date=NOW.date(), stem=EDITION)


if __name__ == "__main__":
    {"judge": judge, "score": score}[sys.argv[1]](Path(sys.argv[2]))
