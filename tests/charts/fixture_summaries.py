"""What the marts of the synthetic warehouses say of their runs, worked out from the scores."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tests.charts.fixture_arms import METRICS, QA_TYPES, RunSpec
from tests.charts.fixture_tables import Tables


def add_summaries(tables: Tables, run: RunSpec) -> None:
    """Means, slices, times and completeness of a run."""
    keys = {"run_id": run.run_id}
    for metric, _, _ in METRICS:
        values = [v for v in tables.scores[run.run_id, metric] if v is not None]
        mean, low, high = _interval(values)
        wilson = _wilson(values) if metric.startswith("success") else (None, None)
        tables.marts["fct_run_metrics"].append(
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
                for i, v in enumerate(tables.scores[run.run_id, metric])
                if v is not None and i % len(QA_TYPES) == place
            ]
            mean, low, high = _interval(part)
            tables.marts["fct_run_breakouts"].append(
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
        tables.marts["fct_run_latency"].append(
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
    tables.marts["fct_run_completeness"].append(
        {
            **keys,
            "n_tasks": run.n_tasks,
            "n_ok": run.n_tasks - failed - run.n_not_attempted,
            "n_empty": 0,
            "n_error": failed,
            "n_timeout": 0,
            "n_not_attempted": run.n_not_attempted,
            "n_dropped": 2,
            "suspect": run.suspect_reason is not None,
            "suspect_reason": run.suspect_reason,
        }
    )
    _add_cautions(tables, run, failed)


def add_caution(tables: Tables, run: RunSpec, caution: str, **columns: Any) -> None:
    """A row of `fct_run_cautions`."""
    tables.marts["fct_run_cautions"].append(
        {"run_id": run.run_id, "caution": caution, "is_suspect": False, **columns}
    )


def _add_cautions(tables: Tables, run: RunSpec, failed: int) -> None:
    counts = {"n": run.n_tasks, "of_n": run.n_tasks}
    if run.suspect_reason is not None:
        add_caution(tables, run, run.suspect_reason, **counts | {"is_suspect": True})
    elif failed:
        add_caution(tables, run, "failed", **counts | {"n": failed})
    if run.n_not_attempted:
        add_caution(tables, run, "not_attempted", **counts | {"n": run.n_not_attempted})
    for caution in run.cautions:
        add_caution(tables, run, **caution)


def add_paired(tables: Tables, runs: list[RunSpec]) -> None:
    """Every candidate of a family against its baseline."""
    groups: dict[tuple[str, str, str], list[tuple[RunSpec, str | None]]] = {}
    for run in runs:
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
                _add_pair(tables, family, baseline, run, metric)


def _add_pair(tables: Tables, family: str, baseline: RunSpec, run: RunSpec, metric: str) -> None:
    pairs = [
        (a, b)
        for a, b in zip(
            tables.scores[baseline.run_id, metric], tables.scores[run.run_id, metric], strict=False
        )
        if a is not None and b is not None
    ]
    if not pairs:
        return
    differences = [b - a for a, b in pairs]
    mean, low, high = _interval(differences)
    verdict = "better" if low > 0 else "worse" if high < 0 else "insufficient"
    p_value = min(1.0, max(1e-6, 2 * math.exp(-abs(mean or 0) * 40)))
    tables.marts["fct_paired_tests"].append(
        {
            "family": family,
            "baseline_run_id": baseline.run_id,
            "candidate_run_id": run.run_id,
            "baseline_kind": "run",
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
