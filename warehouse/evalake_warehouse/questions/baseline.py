"""Frozen baselines: one run's scores per task, in a file that can be committed."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from evalake_warehouse.errors import ConfigError, EvalakeError, Problem, UsageError
from evalake_warehouse.identity import sha256_text
from evalake_warehouse.questions.runs import Run
from evalake_warehouse.vocabulary import CONTROL_SYSTEMS

if TYPE_CHECKING:
    import pyarrow as pa

_FORMAT = 1
_PREFIX = "frozen:"
_SHOWN_PROBLEMS = 10


class RunRecord(BaseModel):
    """What identifies a frozen run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: str
    arm_label: str
    dataset: str
    edition: str
    split: str
    depth: int | None = None  # older files do not tell
    output: str | None = None
    primary_metric: str | None
    status: str
    started_at: datetime


class MetricRecord(BaseModel):
    """A frozen run's scores on one metric."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    measure: str
    level: str
    values: list[Annotated[float, Field(ge=0, le=1)] | None]  # in the order of `tasks`


class Baseline(BaseModel):
    """A frozen run. `failed` gives the status of tasks that ended in an error or a timeout."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = _FORMAT
    evalake_version: str
    relevance_rules: str
    arm_hash: str
    system: str
    system_version: str
    record: RunRecord
    tasks: list[str]
    failed: dict[str, str]
    metrics: dict[str, MetricRecord]

    # Of the file it was read from; None for one that was never written.
    _file: str | None = PrivateAttr(default=None)
    _file_sha256: str | None = PrivateAttr(default=None)

    @property
    def file(self) -> str | None:
        """Name of the file it was read from, without folders."""
        return self._file

    @cached_property
    def sha256(self) -> str:
        """Hash of the file's bytes, or of what `save` would write."""
        return self._file_sha256 or sha256_text(_as_text(self))

    @cached_property
    def run(self) -> Run:
        """The frozen run, under an id that no run of a lake has and only this content has."""
        values = self.record.model_dump()
        return Run(
            **values | {"run_id": f"{_PREFIX}{self.record.run_id}@{self.sha256[:12]}"},
            arm_hash=self.arm_hash,
            system=self.system,
            system_version=self.system_version,
            n_tasks=len(self.tasks),
        )

    @cached_property
    def suspect_reason(self) -> str | None:
        """Why its scores allow no verdict, as `fct_run_completeness` has it of a run."""
        scores = [
            value
            for name, record in self.metrics.items()
            if record.measure in _TELLING_MEASURES and ":" not in name
            for value in record.values
            if value is not None
        ]
        if not any(value is not None for one in self.metrics.values() for value in one.values):
            return "all_failed" if self.failed else "nothing_attempted"
        is_meant = self.system in CONTROL_SYSTEMS
        return "all_zero" if scores and max(scores) == 0 and not is_meant else None

    @property
    def place(self) -> tuple[str, str, str]:
        """Dataset, edition and split: runs with the same are compared with it."""
        return self.record.dataset, self.record.edition, self.record.split

    def read_from(self, path: Path, content: bytes) -> None:
        """Remember which file, with which content, this is."""
        self._file = path.name
        self._file_sha256 = hashlib.sha256(content).hexdigest()

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


_TELLING_MEASURES = ("recall", "success", "rr", "library_resolution")
_TASK_METRICS = ("run_id", "task_id", "metric", "measure", "level", "value", "null_reason")


def is_baseline_file(text: str) -> bool:
    """Whether an argument means a file rather than a run; no run is called like one."""
    return text.lower().endswith(".json") or (
        ("/" in text or "\\" in text) and Path(text).is_file()
    )


def load_baseline(path: Path) -> Baseline:
    """Read a frozen baseline.

    Raises:
        UsageError: the file is missing or no JSON.
        ConfigError: it is no baseline of this version, every problem at once.
    """
    try:
        stored = path.read_bytes()
        content = json.loads(stored.decode("utf-8"))
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
                for item in error.errors()[:_SHOWN_PROBLEMS]
            ],
            hint="evalake baseline freeze latest",
        ) from error
    wrong = _lengths(path, baseline)
    if len(set(baseline.tasks)) != len(baseline.tasks):
        wrong.append(Problem(str(path), "`tasks`: a task stands there twice"))
    if baseline.format != _FORMAT:
        wrong.append(
            Problem(str(path), f"`format`: {baseline.format}; this version reads {_FORMAT}")
        )
    if wrong:
        raise ConfigError(wrong, hint="evalake baseline freeze latest")
    baseline.read_from(path, stored)
    return baseline


def _lengths(path: Path, baseline: Baseline) -> list[Problem]:
    """The first metrics whose values are not one per task, and how many more there are."""
    n_tasks = len(baseline.tasks)
    odd = [name for name, record in baseline.metrics.items() if len(record.values) != n_tasks]
    problems = [
        Problem(
            str(path),
            f"`metrics.{name}.values`: {len(baseline.metrics[name].values)} values for "
            f"{n_tasks} tasks",
        )
        for name in odd[:_SHOWN_PROBLEMS]
    ]
    if len(odd) > _SHOWN_PROBLEMS:
        rest = len(odd) - _SHOWN_PROBLEMS
        problems.append(Problem(str(path), f"and {rest} more metrics; does `tasks` lack one?"))
    return problems


def list_baselines(folder: Path) -> tuple[list[Baseline], list[Problem]]:
    """Every frozen baseline in a folder by name, and what is wrong with the other JSON files.

    Of files with the same content only the first counts: twice, it would be compared twice.
    """
    found: dict[str, Baseline] = {}
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.json")):
        try:
            baseline = load_baseline(path)
        except EvalakeError as error:
            problems += error.problems
        else:
            found.setdefault(baseline.run.run_id, baseline)
    return list(found.values()), problems


def save(baseline: Baseline, path: Path, *, replace: bool = False) -> None:
    """Write the file, whole or not at all.

    Raises:
        UsageError: another baseline is there already, and `replace` was not asked for.
    """
    if not replace and path.is_file() and path.read_text(encoding="utf-8") != _as_text(baseline):
        raise UsageError("holds another baseline; `--replace` writes over it", where=str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_bytes(_as_text(baseline).encode("utf-8", "surrogatepass"))
    temporary.replace(path)


def _as_text(baseline: Baseline) -> str:
    """One metric a line, so that a change shows in a diff."""
    content = baseline.model_dump(mode="json")
    metrics = content.pop("metrics")
    head = json.dumps(content, indent=1, ensure_ascii=False).rstrip("}").rstrip()
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(record)}" for name, record in metrics.items()
    )
    return f'{head},\n "metrics": {{\n{lines}\n }}\n}}\n'
