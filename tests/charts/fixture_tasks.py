"""Tasks of the synthetic warehouses, with their gold and what the dataset left out."""

from __future__ import annotations

import json

from tests.charts.fixture_arms import PRIMARY, QA_TYPES, T0
from tests.charts.fixture_tables import Tables

REPOS = ("httpx", "click", "rich", "jinja2")


def add_tasks(
    tables: Tables, dataset: str, edition: str, count: int, *, query_prefix: str = ""
) -> None:
    """A dataset edition with tasks of four repositories, one gold function each."""
    record = {
        "edition": edition,
        "revision": "1",
        "loader_version": "1",
        "primary_level": "symbol",
        "primary_metric": PRIMARY,
        "default_split": "dev",
        "rows_read": count + 2,
        "rows_kept": count,
        "rows_dropped": 2,
        "ingested_at": T0,
    }
    tables.marts["dim_editions"].append({"dataset": dataset, "is_latest": True, **record})
    tables.lake(
        "datasets",
        dataset,
        {
            **record,
            "source": "built in",
            "licence": "Apache-2.0",
            "citation": "none",
            "caveats": ["Queries were written by hand.", "Twelve packages only."],
        },
    )
    for number, reason in enumerate(("duplicate_query", "no_gold")):
        tables.lake(
            "drops",
            dataset,
            {
                "edition": edition,
                "source_row": f"row-{number}",
                "reason": reason,
                "evidence": f"line {number}",
            },
        )
    for number in range(count):
        task_id = task_id_of(number)
        repo = REPOS[number % 4]
        task = {
            "edition": edition,
            "task_id": task_id,
            "kind": "describe" if number % 2 else "locate",
            "query": f"{query_prefix}Where does {repo} decide what happens in case "
            f"{number} when the connection is closed early?",
            "repo": repo,
            "library": repo,
            "qa_type": QA_TYPES[number % len(QA_TYPES)],
            "corpus_id": "c" * 64,
            "task_seed": number * 7919,
            "stratum": repo,
        }
        labels = json.dumps({"difficulty": "easy" if number % 7 else "hard"})
        tables.marts["dim_tasks"].append(
            {"dataset": dataset, **task, "n_relevant": 1, "labels_json": labels}
        )
        tables.lake("tasks", dataset, {**task, "query_variants_json": "{}", "labels_json": "{}"})
        gold_id = f"{repo}/core.py::function_{number}"
        tables.lake(
            "gold",
            dataset,
            {
                "edition": edition,
                "task_id": task_id,
                "gold_id": gold_id,
                "level": "symbol",
                "grade": 1,
                "role": "primary",
                "truth_method": "author",
            },
        )
        for relation, key in (("symbol", f"{repo}.core.function_{number}"), ("lines", None)):
            tables.lake(
                "qrels",
                dataset,
                {
                    "edition": edition,
                    "task_id": task_id,
                    "gold_id": gold_id,
                    "relation": relation,
                    "key": key,
                    "path": f"{repo}/core.py",
                    "start_line": 10 * number + 1,
                    "end_line": 10 * number + 8,
                },
            )


def task_id_of(number: int) -> str:
    return f"task-{number:04d}"
