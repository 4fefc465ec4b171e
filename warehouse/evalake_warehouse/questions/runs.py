"""Runs as the warehouse knows them: one class for commands, comparisons, charts and reports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

from evalake_warehouse.errors import UsageError
from evalake_warehouse.nearest import did_you_mean
from evalake_warehouse.questions.open_warehouse import rows
from evalake_warehouse.vocabulary import CONTROL_SYSTEMS, USUAL_METRICS, RunRole

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# What is told of a run beside its figures, for instance in JSON.
_RECORD = (
    "run_id",
    "arm_label",
    "dataset",
    "edition",
    "split",
    "depth",
    "primary_metric",
    "status",
    "started_at",
)


@dataclass(frozen=True, slots=True)
class Run:
    """A run as `dim_runs` has it, with its role in its first family or in the selected one."""

    run_id: str
    arm_label: str
    arm_hash: str
    system: str
    system_version: str
    dataset: str
    edition: str
    split: str
    depth: int | None  # None for a frozen baseline whose file does not tell
    output: str | None
    primary_metric: str | None  # that its family declares
    status: str
    started_at: datetime
    n_tasks: int  # planned
    finished_at: datetime | None = None
    sweep_id: str | None = None
    family: str | None = None
    role: RunRole | None = None
    git_sha: str | None = None
    n_seen: int = 0  # tasks with an attempt
    task_set: int = 0  # hash of the tasks with an attempt; equal where the tasks are
    config: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return f"{self.arm_label} on {self.dataset}/{self.split} ({self.run_id})"

    @property
    def is_control(self) -> bool:
        """Whether the arm is a yardstick rather than a candidate."""
        return self.role == "control" or self.system in CONTROL_SYSTEMS

    @property
    def place(self) -> str:
        """Dataset, edition and split: what a panel must not mix."""
        return f"{self.dataset} {self.edition[:8]} ({self.split})"

    def record(self) -> dict[str, Any]:
        """What identifies the run and what it may be compared with."""
        return {name: getattr(self, name) for name in _RECORD}


def list_runs(connection: DuckDBPyConnection) -> list[Run]:
    """Every run of the warehouse, the latest first, without its answers."""
    return [_run(row) for row in rows(connection, "select * from dim_runs order by run_id desc")]


def primary_metric(connection: DuckDBPyConnection, runs: Sequence[Run]) -> str:
    """The metric that runs of one place are judged by.

    It is what their family declares, else their dataset's, else a usual one that they have.
    """
    first = runs[0]
    declared = [run.primary_metric for run in runs if run.primary_metric]
    if declared:
        return declared[0]
    found = rows(
        connection,
        "select primary_metric from dim_editions where dataset = ? and edition = ?",
        [first.dataset, first.edition],
    )
    of_dataset = [row["primary_metric"] for row in found if row["primary_metric"]]
    return of_dataset[0] if of_dataset else _usual_metric(connection, runs)


def _usual_metric(connection: DuckDBPyConnection, runs: Sequence[Run]) -> str:
    found = rows(
        connection,
        "select distinct metric from fct_run_metrics "
        "where list_contains(?, run_id) and n_scored > 0 order by metric",
        [[run.run_id for run in runs]],
    )
    scored = [row["metric"] for row in found]
    return next((name for name in (*USUAL_METRICS, *scored) if name in scored), USUAL_METRICS[0])


def known_datasets(connection: DuckDBPyConnection) -> list[str]:
    """Names of all datasets that were ingested, or that a run was made on."""
    found = connection.execute(
        "select dataset from lake.main.datasets union select dataset from dim_runs order by 1"
    )
    return [name for (name,) in found.fetchall()]


def check_dataset(name: str, known: Iterable[str]) -> None:
    """Refuse a dataset that is not among the known ones.

    Raises:
        UsageError: with the nearest names.
    """
    names = sorted(known)
    if name in names:
        return
    there_are = did_you_mean(name, names) if names else "; none was ingested yet"
    raise UsageError(f"no dataset {name!r} here{there_are}", hint="evalake datasets list")


def _run(row: Mapping[str, Any]) -> Run:
    elsewhere = {"config", "n_seen", "task_set"}
    values = {field.name: row[field.name] for field in fields(Run) if field.name not in elsewhere}
    return Run(**values, config=_json_object(row["config_json"]))


def _json_object(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
