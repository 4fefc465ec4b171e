"""The rows of a run: how it began, how it ended, and the families it joined since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from evalake_runners.engine.host import git_state, host_facts, package_versions
from evalake_runners.engine.plan import Cell, Request
from evalake_runners.engine.record import utc_now
from evalake_warehouse.identity import canonical_json
from evalake_warehouse.project import Project
from evalake_warehouse.scrub import scrub


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts that all runs of one invocation record: versions, host, commit."""

    host_json: str
    packages_json: str
    git_sha: str | None
    git_dirty: bool | None

    @classmethod
    def collect(cls, project: Project) -> RunFacts:
        """Look at the machine, the installed packages and the checkout."""
        sha, dirty = git_state(project.data_dir)
        return cls(canonical_json(host_facts()), canonical_json(package_versions()), sha, dirty)


def started_row(cell: Cell, run_id: str, request: Request, facts: RunFacts) -> dict[str, Any]:
    """The `started` row of a cell's run."""
    arm = cell.arm
    return {
        "dataset": cell.dataset.dataset,
        "edition": cell.dataset.edition,
        "split": cell.split,
        "run_id": run_id,
        "event": "started",
        "at": utc_now(),
        "arm_hash": arm.arm_hash,
        "arm_label": arm.label,
        "system": arm.system,
        "system_version": arm.system_version,
        "adapter_version": arm.adapter_version,
        "query_variant": arm.spec.query_variant,
        "output": arm.output,
        "depth": arm.spec.depth,
        "seed": cell.seed,
        "repeat": cell.repeat,
        "config_json": arm.config_json,
        "config_files_json": canonical_json(dict(arm.config_files)),
        "packages_json": facts.packages_json,
        "host_json": facts.host_json,
        "n_tasks": len(cell.tasks),
        "jobs": request.limits.jobs,
        "evalake_version": _evalake_version(),
        "git_sha": facts.git_sha,
        "git_dirty": facts.git_dirty,
        "command": scrub(request.command),
        "sweep_id": request.sweep_id,
        "family": cell.family,
        "role": arm.spec.role,
        "primary_metric": cell.primary_metric,
        "branches_json": canonical_json(list(arm.branches)) if arm.branches else None,
    }


def finished_row(
    started: Mapping[str, Any],
    *,
    is_complete: bool,
    device: str | None,
    network_block: str | None,
) -> dict[str, Any]:
    """The `finished` row: `finished`, or `incomplete` where the last try of a task failed."""
    return {
        **started,
        "event": "finished",
        "at": utc_now(),
        "status": "finished" if is_complete else "incomplete",
        "device": device,
        "network_blocked": None if network_block is None else network_block != "no",
        "network_block": network_block,
    }


def joined_row(started: Mapping[str, Any]) -> dict[str, Any]:
    """The `joined` row: a run made by one sweep counts in the family of another, too.

    Args:
        started: the row that the joining sweep would have begun the run with.
    """
    return {**started, "event": "joined", "at": utc_now()}


def _evalake_version() -> str:
    try:
        return metadata.version("evalake")
    except metadata.PackageNotFoundError:  # run from a checkout that was not installed
        return "unknown"
