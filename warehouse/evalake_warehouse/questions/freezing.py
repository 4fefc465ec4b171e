"""A run's scores as a frozen baseline, and what has changed since one was frozen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalake_warehouse.errors import UsageError
from evalake_warehouse.questions.baseline import Baseline, MetricRecord, RunRecord
from evalake_warehouse.questions.cautions import run_cautions
from evalake_warehouse.questions.open_warehouse import rows
from evalake_warehouse.questions.runs import Run
from evalake_warehouse.vocabulary import FAILED

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def freeze(connection: DuckDBPyConnection, run: Run) -> Baseline:
    """The run's scores as they stand in the warehouse now.

    Raises:
        UsageError: the run has no scored task, or is suspect.
    """
    found = connection.execute(
        "select task_id, metric, measure, level, value, null_reason from fct_task_metrics "
        "where run_id = ? order by metric, task_id",
        [run.run_id],
    ).fetchall()
    if not any(value is not None for *_, value, _ in found):
        raise UsageError("nothing of this run was scored", where=str(run), hint="evalake build")
    for caution in run_cautions(connection, [run.run_id], [])[run.run_id]:
        if caution.is_suspect:
            raise UsageError(caution.text, where=str(run), hint=f"evalake runs show {run.run_id}")
    tasks = sorted({row[0] for row in found})
    place = {task_id: index for index, task_id in enumerate(tasks)}
    values: dict[str, list[float | None]] = {}
    about: dict[str, tuple[str, str]] = {}
    failed: dict[str, str] = {}
    for task_id, metric, measure, level, value, reason in found:
        about[metric] = (measure, level)
        values.setdefault(metric, [None] * len(tasks))[place[task_id]] = value
        if reason in FAILED:
            failed[task_id] = reason
    arm = rows(
        connection,
        "select arm_hash, system, system_version, evalake_version from dim_runs where run_id = ?",
        [run.run_id],
    )[0]
    rules = connection.execute(
        "select relevance_rules from meta_build order by build_id desc limit 1"
    ).fetchone()
    return Baseline(
        **arm,
        relevance_rules=str(rules[0]) if rules else "unknown",
        record=RunRecord(**{name: getattr(run, name) for name in RunRecord.model_fields}),
        tasks=tasks,
        failed=failed,
        metrics={
            metric: MetricRecord(measure=about[metric][0], level=about[metric][1], values=scores)
            for metric, scores in values.items()
        },
    )


def changed_values(frozen: Baseline, now: Baseline) -> list[dict[str, Any]]:
    """Scores that the warehouse gives otherwise than the file: rules, gold or evidence moved."""
    current = {
        (task_id, metric): value
        for metric, record in now.metrics.items()
        for task_id, value in zip(now.tasks, record.values, strict=True)
    }
    return [
        {
            "task_id": task_id,
            "metric": metric,
            "frozen": value,
            "now": current.get((task_id, metric)),
        }
        for metric, record in frozen.metrics.items()
        for task_id, value in zip(frozen.tasks, record.values, strict=True)
        if not _same(value, current.get((task_id, metric)))
    ]


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= 1e-9
