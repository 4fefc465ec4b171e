"""Runs of the synthetic warehouses: each draws the rank at which it found a task's gold item."""

from __future__ import annotations

import json
import math
from datetime import timedelta
from typing import Any

import numpy as np
from tests.charts.fixture_arms import ENVIRONMENT, METRICS, Joins, RunSpec, arm_hash, arrival_id
from tests.charts.fixture_tables import Tables
from tests.charts.fixture_tasks import REPOS, task_id_of

from evalake_warehouse.identity import sha256_text


def add_run(tables: Tables, run: RunSpec, *, hit_text: str | None = None) -> None:
    """A run, its attempts and hits, and its score on every task."""
    rng = np.random.default_rng([run.seed, run.n_tasks])
    difficulty = np.random.default_rng(5).beta(2, 2, size=run.n_tasks)
    keys = {"run_id": run.run_id, "dataset": run.dataset}
    finished = run.started_at + timedelta(seconds=40)
    tables.marts["dim_runs"].append(
        {
            **keys,
            "arm_hash": arm_hash(run.arm),
            "arm_label": run.arm.label,
            "system": run.arm.system,
            "system_version": "1.0",
            "edition": run.edition,
            "split": run.split,
            "depth": run.depth,
            "query_variant": "original",
            "output": "ranked",
            "sweep_id": run.sweep,
            "family": run.sweep,
            "role": run.arm.role,
            "status": run.status,
            "started_at": run.started_at,
            "finished_at": finished,
            "git_sha": run.git_sha,
            "config_json": json.dumps(run.arm.config, sort_keys=True),
            **ENVIRONMENT,
            "n_tasks": run.n_tasks,
        }
    )
    _add_memberships(tables, run)
    _add_index_event(tables, run)
    for number in range(run.n_tasks):
        task_id = task_id_of(number)
        status = _status(run, number)
        failed = status != "ok"
        chance = run.arm.skill * (0.4 + 1.2 * difficulty[number])
        rank = None
        for place in range(1, run.depth + 1):
            if rng.random() < chance / (1 + 0.55 * (place - 1)):
                rank = place
                break
        if number % 20 == 19:  # a task that none but chance solves
            rank = 4 if run.arm.role == "control" else None
        seconds = run.arm.latency_s * float(rng.lognormal(0, 0.45))
        tables.lake(
            "attempts",
            run.dataset,
            {
                "edition": run.edition,
                "run_id": run.run_id,
                "task_id": task_id,
                "attempt": 1,
                "status": status,
                "n_hits": 0 if failed else run.n_hits,
                "n_concurrent": 1,
                "started_at": run.started_at,
                "reason": "crashed" if failed else None,
                "payload_bytes": 4000 + number,
                "cost_usd": 0.0004 if run.arm.system == "pydocs-mcp" else None,
            },
        )
        tables.lake(
            "timings",
            run.dataset,
            {
                "run_id": run.run_id,
                "task_id": task_id,
                "attempt": 1,
                "phase": "search",
                "temperature": "warm",
                "repeat": 0,
                "seconds": seconds,
            },
        )
        for metric, measure, cutoff in METRICS:
            value = None if failed else _score(measure, cutoff, rank)
            tables.scores.setdefault((run.run_id, metric), []).append(value)
            tables.marts["fct_task_metrics"].append(
                {
                    "run_id": run.run_id,
                    "task_id": task_id,
                    "metric": metric,
                    "measure": measure,
                    "cutoff": cutoff,
                    "level": "symbol",
                    "value": value,
                    "null_reason": status if failed else None,
                    "truncated": False,
                }
            )
        if not failed:
            _add_hits(tables, run, number, rank, rng, hit_text=hit_text)


def _status(run: RunSpec, number: int) -> str:
    if number < run.n_error or not run.scored:
        return "error"
    return "not_attempted" if number < run.n_error + run.n_not_attempted else "ok"


def _add_hits(
    tables: Tables, run: RunSpec, number: int, rank: int | None, rng: Any, *, hit_text: str | None
) -> None:
    task_id = task_id_of(number)
    repo = REPOS[number % 4]
    for place in range(1, run.n_hits + 1):
        # The same function in a second chunk: it matches, and earns nothing more.
        repeated = rank is not None and place == rank + 2
        relevant = place == rank or repeated
        name = f"function_{number}" if relevant else f"helper_{rng.integers(0, 400)}"
        path = f"{repo}/core.py" if relevant else f"{repo}/mod_{rng.integers(0, 30)}.py"
        start = 10 * number + 1 if relevant else int(rng.integers(1, 900))
        item = f"{path}:{start}-{start + 7}"
        text = hit_text or (
            f"def {name}(request, *, limit=10):\n"
            f'    """Answer {name} for {repo}."""\n'
            f"    pool = acquire_pool(request, limit={start})\n"
            f"    return pool.handle(request)\n"
        )
        gold_id = f"{repo}/core.py::function_{number}" if relevant else None
        tables.marts["fct_hits"].append(
            {
                "run_id": run.run_id,
                "task_id": task_id,
                "rank": place,
                "unit_rank": place,
                "item_id": item,
                "path": path,
                "start_line": start,
                "end_line": start + 7,
                "score": float(run.n_hits + 10 - place),
                "relevant": relevant,
                "grade": 1 if relevant else None,
                "gold_id": gold_id,
                "credited": place == rank,
                "relation": "symbol" if relevant else None,
                "level": "symbol",
                "path_status": "ok",
                "qualified_name": f"{repo}.core.{name}",
                "text_sha256": sha256_text(text),
                "branch": "bm25",
            }
        )
        if (key := (run.dataset, sha256_text(text))) not in tables.texts:
            tables.texts.add(key)
            row = {"text_sha256": key[1], "text": text, "origin": "hit"}
            tables.lake("texts", run.dataset, row)


def _add_memberships(tables: Tables, run: RunSpec) -> None:
    own = Joins(run.sweep, run.started_at, run.arm.role or "candidate")
    for joins in (own, *run.joins):
        tables.marts["dim_run_families"].append(
            {
                "run_id": run.run_id,
                "family": joins.family,
                "sweep_id": joins.family,
                "role": joins.role,
                "primary_metric": joins.primary_metric,
                "joined_at": joins.at,
                "arrival_id": arrival_id(joins.at),
            }
        )


def _add_index_event(tables: Tables, run: RunSpec) -> None:
    tables.lake(
        "index_events",
        run.dataset,
        {
            "run_id": run.run_id,
            "corpus_id": "c" * 64,
            "ingestion_hash": "i" * 64,
            "status": "ok",
            "cache_hit": False,
            "at": run.started_at,
            "counts_json": "{}",
            "seconds": 2 + 300 * run.arm.skill,
            "bytes_on_disk": 4_200_000,
            "n_chunks": 5120,
        },
    )


def _score(measure: str, cutoff: int | None, rank: int | None) -> float:
    if rank is None or (cutoff is not None and rank > cutoff):
        return 0.0
    return {"rr": 1 / rank, "ndcg": 1 / math.log2(rank + 1)}.get(measure, 1.0)
