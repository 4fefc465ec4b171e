"""A warehouse with believable synthetic marts, and the lake behind it.

Every figure follows from one drawn table: the rank at which an arm found a task's gold item.
"""

from __future__ import annotations

import hashlib
import json
import math
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from tests.charts.fixture_arms import (
    DEFINITIONS,
    ENVIRONMENT,
    METRICS,
    PRIMARY,
    QA_TYPES,
    T0,
    VARIABLES,
    Joins,
    RunSpec,
    arm_hash,
)
from tests.charts.fixture_schemas import SCHEMAS

from evalake_warehouse.identity import sha256_text
from evalake_warehouse.lake.writer import write_rows


class FixtureWarehouse:
    """Fills the marts and the lake for a list of runs; `build` writes them under `home`."""

    def __init__(
        self,
        home: Path,
        runs: list[RunSpec],
        *,
        hit_text: str | None = None,
        query_prefix: str = "",
        with_lake: bool = True,
    ) -> None:
        self.home = home
        self.runs = runs
        self.hit_text = hit_text
        self.query_prefix = query_prefix
        self.with_lake = with_lake
        self.tables: dict[str, list[dict[str, Any]]] = {name: [] for name in SCHEMAS}
        self.lake_rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self.scores: dict[tuple[str, str], list[float | None]] = {}

    def build(self) -> Path:
        self.home.mkdir(parents=True, exist_ok=True)
        done: set[tuple[str, str]] = set()
        for number, run in enumerate(self.runs):
            run.run_id = run.run_id or _run_id(run, number)
            if (run.dataset, run.edition) not in done:
                done.add((run.dataset, run.edition))
                largest = max(other.n_tasks for other in self.runs)
                self._tasks(run.dataset, run.edition, largest)
            self._run(run)
        self._paired()
        path = self.home / "warehouse.duckdb"
        with duckdb.connect(str(path)) as connection:
            for name, columns in SCHEMAS.items():
                schema = pa.schema(list(columns.items()))
                data = pa.Table.from_pylist(self.tables[name], schema=schema)
                connection.register("incoming", data)
                connection.execute(f"create table {name} as select * from incoming")
                connection.unregister("incoming")
            connection.execute("create table meta_build (built_at timestamp, vars_json varchar)")
            connection.execute("insert into meta_build values (?, ?)", [T0, json.dumps(VARIABLES)])
            connection.execute(
                "create table metric_definitions as select * from read_csv(?)", [str(DEFINITIONS)]
            )
        if self.with_lake:
            for (table, dataset), rows in self.lake_rows.items():
                write_rows(
                    self.home / "lake",
                    table,
                    rows,
                    dataset=dataset,
                    run_date=T0.date(),
                    stem=f"fixture-{table}",
                )
        return path

    def _lake(self, table: str, dataset: str, row: dict[str, Any]) -> None:
        self.lake_rows.setdefault((table, dataset), []).append({"dataset": dataset, **row})

    def _tasks(self, dataset: str, edition: str, count: int) -> None:
        self._lake(
            "datasets",
            dataset,
            {
                "edition": edition,
                "revision": "1",
                "loader_version": "1",
                "source": "built in",
                "licence": "Apache-2.0",
                "citation": "none",
                "caveats": ["Queries were written by hand.", "Twelve packages only."],
                "primary_level": "symbol",
                "primary_metric": PRIMARY,
                "default_split": "dev",
                "rows_read": count + 2,
                "rows_kept": count,
                "rows_dropped": 2,
                "ingested_at": T0,
            },
        )
        for number, reason in enumerate(("duplicate_query", "no_gold")):
            self._lake(
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
            task_id = _task_id(number)
            repo = ("httpx", "click", "rich", "jinja2")[number % 4]
            task = {
                "edition": edition,
                "task_id": task_id,
                "kind": "describe" if number % 2 else "locate",
                "query": f"{self.query_prefix}Where does {repo} decide what happens in case "
                f"{number} when the connection is closed early?",
                "repo": repo,
                "library": repo,
                "qa_type": QA_TYPES[number % len(QA_TYPES)],
                "corpus_id": "c" * 64,
                "task_seed": number * 7919,
                "stratum": repo,
            }
            labels = json.dumps({"difficulty": "easy" if number % 7 else "hard"})
            self.tables["dim_tasks"].append(
                {"dataset": dataset, **task, "n_relevant": 1, "labels_json": labels}
            )
            self._lake("tasks", dataset, {**task, "query_variants_json": "{}", "labels_json": "{}"})
            gold_id = f"{repo}/core.py::function_{number}"
            self._lake(
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
                self._lake(
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

    def _run(self, run: RunSpec) -> None:
        rng = np.random.default_rng([run.seed, run.n_tasks])
        difficulty = np.random.default_rng(5).beta(2, 2, size=run.n_tasks)
        keys = {"run_id": run.run_id, "dataset": run.dataset}
        finished = run.started_at + timedelta(seconds=40)
        self.tables["dim_runs"].append(
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
        self._memberships(run)
        self._index_event(run)
        for number in range(run.n_tasks):
            task_id = _task_id(number)
            failed = number < run.n_error or not run.scored
            chance = run.arm.skill * (0.4 + 1.2 * difficulty[number])
            rank = None
            for place in range(1, run.depth + 1):
                if rng.random() < chance / (1 + 0.55 * (place - 1)):
                    rank = place
                    break
            if number % 20 == 19:  # a task that none but chance solves
                rank = 4 if run.arm.role == "control" else None
            status = "error" if failed else "ok"
            seconds = run.arm.latency_s * float(rng.lognormal(0, 0.45))
            self._lake(
                "attempts",
                run.dataset,
                {
                    "edition": run.edition,
                    "run_id": run.run_id,
                    "task_id": task_id,
                    "attempt": 1,
                    "status": status,
                    "n_hits": 0 if failed else 10,
                    "n_concurrent": 1,
                    "started_at": run.started_at,
                    "reason": "crashed" if failed else None,
                    "payload_bytes": 4000 + number,
                    "cost_usd": 0.0004 if run.arm.system == "pydocs-mcp" else None,
                },
            )
            self._lake(
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
                self.scores.setdefault((run.run_id, metric), []).append(value)
                self.tables["fct_task_metrics"].append(
                    {
                        "run_id": run.run_id,
                        "task_id": task_id,
                        "metric": metric,
                        "measure": measure,
                        "cutoff": cutoff,
                        "level": "symbol",
                        "value": value,
                        "null_reason": "error" if failed else None,
                        "truncated": False,
                    }
                )
            if not failed:
                self._hits(run, number, rank, rng)
        self._summaries(run)

    def _hits(self, run: RunSpec, number: int, rank: int | None, rng: Any) -> None:
        task_id = _task_id(number)
        repo = ("httpx", "click", "rich", "jinja2")[number % 4]
        for place in range(1, 11):
            # The same function in a second chunk: it matches, and earns nothing more.
            repeated = rank is not None and place == rank + 2
            relevant = place == rank or repeated
            name = f"function_{number}" if relevant else f"helper_{rng.integers(0, 400)}"
            path = f"{repo}/core.py" if relevant else f"{repo}/mod_{rng.integers(0, 30)}.py"
            start = 10 * number + 1 if relevant else int(rng.integers(1, 900))
            item = f"{path}:{start}-{start + 7}"
            text = self.hit_text or (
                f"def {name}(request, *, limit=10):\n"
                f'    """Answer {name} for {repo}."""\n'
                f"    pool = acquire_pool(request, limit={start})\n"
                f"    return pool.handle(request)\n"
            )
            gold_id = f"{repo}/core.py::function_{number}" if relevant else None
            self.tables["fct_hits"].append(
                {
                    "run_id": run.run_id,
                    "task_id": task_id,
                    "rank": place,
                    "unit_rank": place,
                    "item_id": item,
                    "path": path,
                    "start_line": start,
                    "end_line": start + 7,
                    "score": float(20 - place),
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
            known = self.lake_rows.setdefault(("texts", run.dataset), [])
            seen: set[str] = self.__dict__.setdefault("_seen", set())
            digest = run.dataset + sha256_text(text)
            if digest not in seen:
                seen.add(digest)
                known.append(
                    {
                        "dataset": run.dataset,
                        "text_sha256": sha256_text(text),
                        "text": text,
                        "origin": "hit",
                    }
                )

    def _memberships(self, run: RunSpec) -> None:
        own = Joins(run.sweep, run.started_at, run.arm.role or "candidate")
        for joins in (own, *run.joins):
            self.tables["dim_run_families"].append(
                {
                    "run_id": run.run_id,
                    "family": joins.family,
                    "sweep_id": joins.family,
                    "role": joins.role,
                    "primary_metric": joins.primary_metric,
                    "joined_at": joins.at,
                }
            )

    def _summaries(self, run: RunSpec) -> None:
        keys = {"run_id": run.run_id}
        for metric, _, _ in METRICS:
            values = [v for v in self.scores[run.run_id, metric] if v is not None]
            mean, low, high = _interval(values)
            wilson = _wilson(values) if metric.startswith("success") else (None, None)
            self.tables["fct_run_metrics"].append(
                {
                    **keys,
                    "metric": metric,
                    "level": "symbol",
                    "n_tasks": run.n_tasks,
                    "n_scored": len(values),
                    "mean": mean,
                    "mean_strict": sum(values) / run.n_tasks if values else None,
                    "ci_low": low,
                    "ci_high": high,
                    "wilson_low": wilson[0],
                    "wilson_high": wilson[1],
                    "cluster_low": low,
                    "cluster_high": high,
                    "n_clusters": 4,
                    "chance": 0.012,
                }
            )
            for place, qa_type in enumerate(QA_TYPES):
                part = [
                    v
                    for i, v in enumerate(self.scores[run.run_id, metric])
                    if v is not None and i % len(QA_TYPES) == place
                ]
                mean, low, high = _interval(part)
                self.tables["fct_run_breakouts"].append(
                    {
                        **keys,
                        "dimension": "qa_type",
                        "value": qa_type,
                        "metric": metric,
                        "n_scored": len(part),
                        "mean": mean,
                        "ci_low": low,
                        "ci_high": high,
                    }
                )
        for phase, seconds in (("search", run.arm.latency_s), ("index", 2 + 300 * run.arm.skill)):
            self.tables["fct_run_latency"].append(
                {
                    **keys,
                    "phase": phase,
                    "temperature": "warm" if phase == "search" else "cold",
                    "n": run.n_tasks if phase == "search" else 1,
                    "p50_s": seconds,
                    "p95_s": seconds * 2.1,
                    "p99_s": seconds * 3.0,
                }
            )
        failed = run.n_error if run.scored else run.n_tasks
        self.tables["fct_run_completeness"].append(
            {
                **keys,
                "n_tasks": run.n_tasks,
                "n_ok": run.n_tasks - failed,
                "n_empty": 0,
                "n_error": failed,
                "n_timeout": 0,
                "n_not_attempted": 0,
                "n_dropped": 2,
                "suspect": False,
            }
        )

    def _paired(self) -> None:
        groups: dict[tuple[str, str, str], list[tuple[RunSpec, str | None]]] = {}
        for run in self.runs:
            own = (run.sweep, run.arm.role)
            for family, role in (own, *((joins.family, joins.role) for joins in run.joins)):
                groups.setdefault((family, run.dataset, run.split), []).append((run, role))
        for (family, _, _), members in groups.items():
            baseline = next((run for run, role in members if role == "baseline"), None)
            if baseline is None:
                continue
            for run, role in members:
                if run is baseline or role == "control":
                    continue
                for metric, _, _ in METRICS:
                    self._pair(family, baseline, run, metric)

    def _pair(self, family: str, baseline: RunSpec, run: RunSpec, metric: str) -> None:
        pairs = [
            (a, b)
            for a, b in zip(
                self.scores[baseline.run_id, metric], self.scores[run.run_id, metric], strict=False
            )
            if a is not None and b is not None
        ]
        if not pairs:
            return
        differences = [b - a for a, b in pairs]
        mean, low, high = _interval(differences)
        verdict = "better" if low > 0 else "worse" if high < 0 else "insufficient"
        p_value = min(1.0, max(1e-6, 2 * math.exp(-abs(mean or 0) * 40)))
        self.tables["fct_paired_tests"].append(
            {
                "family": family,
                "baseline_run_id": baseline.run_id,
                "candidate_run_id": run.run_id,
                "metric": metric,
                "n_pairs": len(pairs),
                "only_baseline": sum(a > b for a, b in pairs),
                "only_candidate": sum(b > a for a, b in pairs),
                "mcnemar_p": p_value,
                "mcnemar_midp": p_value * 0.8,
                "mean_diff": mean,
                "diff_low": low,
                "diff_high": high,
                "sign_flip_p": p_value,
                "p_holm": min(1.0, p_value * 6),
                "mde": 0.12,
                "verdict": verdict,
            }
        )

    def _index_event(self, run: RunSpec) -> None:
        self._lake(
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


def _interval(values: list[float]) -> tuple[float | None, float | None, float | None]:
    if not values:
        return None, None, None
    data = np.asarray(values)
    margin = 1.96 * float(data.std()) / math.sqrt(len(values))
    mean = float(data.mean())
    return mean, mean - margin, mean + margin


def _wilson(values: list[float]) -> tuple[float | None, float | None]:
    if not values:
        return None, None
    n, share, z2 = len(values), float(np.mean(values)), 1.96**2
    middle = share + z2 / (2 * n)
    margin = math.sqrt(z2 * (share * (1 - share) + z2 / (4 * n)) / n)
    return (middle - margin) / (1 + z2 / n), (middle + margin) / (1 + z2 / n)


def _task_id(number: int) -> str:
    return f"task-{number:04d}"


def _run_id(run: RunSpec, number: int) -> str:
    digest = hashlib.sha256(
        f"{run.arm.label}{run.dataset}{run.split}{run.started_at}{number}".encode()
    ).hexdigest()
    return f"0195{number:04x}-{digest[:4]}-7{digest[4:7]}-8{digest[7:10]}-{digest[10:22]}"
