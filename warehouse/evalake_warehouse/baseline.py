"""Frozen baselines: one run's scores per task, in a file that can be committed."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from evalake_warehouse.errors import ConfigError, Problem, UsageError
from evalake_warehouse.query import rows
from evalake_warehouse.runs import Run

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

_FORMAT = 1
_PREFIX = "frozen:"


class _RunRecord(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    arm_label: str
    dataset: str
    edition: str
    split: str
    primary_metric: str | None
    status: str
    started_at: datetime


class _MetricRecord(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    measure: str
    level: str
    values: list[float | None]  # in the order of `tasks`


class Baseline(BaseModel):
    """A frozen run. `failed` gives the status of tasks that ended in an error or a timeout."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = _FORMAT
    evalake_version: str
    relevance_rules: str
    arm_hash: str
    system: str
    system_version: str
    record: _RunRecord
    tasks: list[str]
    failed: dict[str, str]
    metrics: dict[str, _MetricRecord]

    @property
    def run(self) -> Run:
        """The frozen run, under an id that no run of a lake has."""
        values = self.record.model_dump()
        return Run(**{**values, "run_id": _PREFIX + self.record.run_id})

    def task_metrics(self) -> pa.Table:
        """Rows as in `fct_task_metrics`."""
        import pyarrow as pa

        columns: dict[str, list[Any]] = {name: [] for name in _TASK_METRICS}
        for metric, record in self.metrics.items():
            for task_id, value in zip(self.tasks, record.values, strict=True):
                reason = None if value is not None else self.failed.get(task_id, "frozen_as_null")
                row = (
                    self.run.run_id,
                    task_id,
                    metric,
                    record.measure,
                    record.level,
                    value,
                    reason,
                )
                for name, cell in zip(_TASK_METRICS, row, strict=True):
                    columns[name].append(cell)
        return pa.table(
            {
                name: pa.array(cells, pa.float64() if name == "value" else pa.string())
                for name, cells in columns.items()
            }
        )


_TASK_METRICS = ("run_id", "task_id", "metric", "measure", "level", "value", "null_reason")


def is_baseline_file(text: str) -> bool:
    """Whether an argument means a file rather than a run."""
    return text.endswith(".json") or Path(text).is_file()


def load_baseline(path: Path) -> Baseline:
    """Read a frozen baseline.

    Raises:
        UsageError: the file is missing or no JSON.
        ConfigError: it is no baseline of this version, every problem at once.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise UsageError(
            "no such baseline file", where=str(path), hint="evalake baseline freeze latest"
        ) from error
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read as JSON: {error}", where=str(path)) from error
    try:
        baseline = Baseline.model_validate(content)
    except ValidationError as error:
        raise ConfigError(
            [
                Problem(str(path), f"`{'.'.join(map(str, item['loc']))}`: {item['msg']}")
                for item in error.errors()[:10]
            ],
            hint="evalake baseline freeze latest",
        ) from error
    wrong = [
        Problem(
            str(path),
            f"`metrics.{name}.values`: {len(record.values)} values for {len(baseline.tasks)} tasks",
        )
        for name, record in baseline.metrics.items()
        if len(record.values) != len(baseline.tasks)
    ]
    if baseline.format != _FORMAT:
        wrong.append(
            Problem(str(path), f"`format`: {baseline.format}; this version reads {_FORMAT}")
        )
    if wrong:
        raise ConfigError(wrong, hint="evalake baseline freeze latest")
    return baseline


def freeze(connection: DuckDBPyConnection, run: Run) -> Baseline:
    """The run's scores as they stand in the warehouse now.

    Raises:
        UsageError: the run has no scored task.
    """
    found = connection.execute(
        "select task_id, metric, measure, level, value, null_reason from fct_task_metrics "
        "where run_id = ? order by metric, task_id",
        [run.run_id],
    ).fetchall()
    if not any(value is not None for *_, value, _ in found):
        raise UsageError("nothing of this run was scored", where=str(run), hint="evalake build")
    tasks = sorted({row[0] for row in found})
    place = {task_id: index for index, task_id in enumerate(tasks)}
    values: dict[str, list[float | None]] = {}
    about: dict[str, tuple[str, str]] = {}
    failed: dict[str, str] = {}
    for task_id, metric, measure, level, value, reason in found:
        about[metric] = (measure, level)
        values.setdefault(metric, [None] * len(tasks))[place[task_id]] = value
        if reason in ("error", "timeout"):
            failed[task_id] = reason
    arm = rows(
        connection,
        "select arm_hash, system, system_version, evalake_version from dim_runs where run_id = ?",
        [run.run_id],
    )[0]
    rules = connection.execute(
        "select relevance_rules from meta_build order by built_at desc limit 1"
    ).fetchone()
    return Baseline(
        **arm,
        relevance_rules=str(rules[0]) if rules else "unknown",
        record=_RunRecord(**asdict(run)),
        tasks=tasks,
        failed=failed,
        metrics={
            metric: _MetricRecord(measure=about[metric][0], level=about[metric][1], values=scores)
            for metric, scores in values.items()
        },
    )


def save(baseline: Baseline, path: Path) -> None:
    """Write the file, one metric a line so that a change shows in a diff, whole or not at all."""
    content = baseline.model_dump(mode="json")
    metrics = content.pop("metrics")
    head = json.dumps(content, indent=1, ensure_ascii=False).rstrip("}").rstrip()
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(record)}" for name, record in metrics.items()
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(f'{head},\n "metrics": {{\n{lines}\n }}\n}}\n', "utf-8")
    temporary.replace(path)


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
