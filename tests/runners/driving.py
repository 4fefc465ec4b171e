"""Run sweeps inside the test's process; systems still live in workers of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toy import rows

from evalake_runners.engine.cell_run import CellResult
from evalake_runners.engine.plan import Plan, Request, make_plan
from evalake_runners.engine.progress import Progress
from evalake_runners.engine.runner import SweepRunner
from evalake_runners.sweeps.arms import ArmSpec
from evalake_runners.sweeps.config import DatasetEntry, Limits
from evalake_runners.workers.stop import StopFlag
from evalake_warehouse.project import Project

MISBEHAVING = "python:misbehaving"


def arm(adapter: str = MISBEHAVING, *, label: str = "", depth: int = 5, **config: Any) -> ArmSpec:
    return ArmSpec(
        label=label or adapter.removeprefix("python:"), adapter=adapter, config=config,
        depth=depth,
    )  # fmt: skip


def request(*arms: ArmSpec, split: Any = "all", dataset: str = "toy", **changed: Any) -> Request:
    limits = Limits(**{"timeout_s": 20.0, **changed.pop("limits", {})})
    return Request(
        arms=arms, datasets=(DatasetEntry(dataset=dataset, split=split),), limits=limits,
        confirm="a test", **changed,
    )  # fmt: skip


def run(project: Project, *arms: ArmSpec, **changed: Any) -> list[CellResult]:
    return run_plan(project, make_plan(project, request(*arms, **changed)))


def run_plan(
    project: Project, plan: Plan, stop: StopFlag | None = None, progress: Progress | None = None
) -> list[CellResult]:
    runner = SweepRunner(project, plan, progress or Progress(), stop or StopFlag())
    runner.run()
    return runner.results


def statuses(project: Project) -> dict[str, tuple[str, str | None]]:
    """Status and reason of the last attempt at each task."""
    attempts = sorted(rows(project, "attempts"), key=lambda row: row["attempt"])
    return {row["task_id"]: (row["status"], row["reason"]) for row in attempts}


def hit_set(project: Project) -> set[tuple[Any, ...]]:
    """Hits of committed attempts, without what differs between two runs of one thing."""
    committed = {
        (row["run_id"], row["task_id"], row["attempt"]) for row in rows(project, "attempts")
    }
    # Not raw_path: a system answers below the home at hand.
    names = ("task_id", "rank", "item_id", "score", "path", "text_sha256")
    return {
        tuple(row[name] for name in names)
        for row in rows(project, "hits")
        if (row["run_id"], row["task_id"], row["attempt"]) in committed
    }


def running(mark: str) -> bool:
    """Whether a process with this word on its command line is alive (on Linux)."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in line:
            return True
    return False
