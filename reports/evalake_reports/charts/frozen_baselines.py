"""Frozen baselines as baselines of a selection: the one named, and those that the marts know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalake_reports.charts.marts import ids
from evalake_reports.charts.selection import Selection
from evalake_warehouse.questions.runs import Run


def with_file(selection: Selection, file: Path) -> Selection:
    """The same runs with a frozen baseline file as their baseline.

    Raises:
        UsageError: there is no such file.
        ConfigError: it is no frozen baseline.
    """
    from evalake_warehouse.questions.baseline import load_baseline

    frozen = load_baseline(file)
    known = {
        "baseline_run_id": frozen.run.run_id,
        "file": frozen.file,
        "arm_hash": frozen.arm_hash,
        "system": frozen.system,
        "system_version": frozen.system_version,
        "n_tasks": len(frozen.tasks),
        **frozen.record.model_dump(),
    }
    return replace(_with(selection, known), frozen=frozen)


def with_known(selection: Selection) -> list[Selection]:
    """The same runs once for every frozen baseline that one of them was compared with.

    Empty where a file was named as the baseline: then that one is meant.
    """
    if selection.frozen is not None:
        return []
    found = selection.marts.rows(
        """
        select *
        from dim_baselines
        where baseline_run_id in (
            select baseline_run_id
            from fct_paired_tests
            where list_contains(?, candidate_run_id) and metric = ? and n_pairs > 0
        )
        order by file
        """,
        ids(selection.runs),
        selection.primary_metric,
    )
    others = [_with(selection, known) for known in found]
    return [other for other in others if set(ids(other.runs)) != {other.frozen_run_id}]


def _with(selection: Selection, known: Mapping[str, Any]) -> Selection:
    baseline = Run(
        run_id=known["baseline_run_id"],
        arm_hash=known["arm_hash"],
        arm_label=f"{known['arm_label']} (frozen in {known['file']})",
        system=known["system"],
        system_version=known["system_version"],
        dataset=known["dataset"],
        edition=known["edition"],
        split=known["split"],
        depth=known["depth"],
        output=None,
        role="baseline",
        status=known["status"],
        started_at=known["started_at"],
        primary_metric=known["primary_metric"],
        n_tasks=known["n_tasks"],
        n_seen=known["n_tasks"],
    )
    return replace(selection, baseline=baseline, frozen_run_id=known["run_id"])
