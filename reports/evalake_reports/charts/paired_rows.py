"""Candidates against the baseline: from the marts where it was declared, else tested on demand."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import Any

from evalake_reports.charts.labels import DASH, difference, p_value
from evalake_reports.charts.marts import ids
from evalake_reports.charts.selection import Selection
from evalake_warehouse.errors import UsageError
from evalake_warehouse.questions.runs import Run


def need_baseline(selection: Selection) -> Run:
    """The selection's baseline.

    Raises:
        UsageError: no run of it has the role `baseline`, and none was named.
    """
    if selection.baseline is None:
        labels = [selection.labels[run.run_id] for run in selection.runs]
        shown = ", ".join(labels[:8]) + (", ..." if len(labels) > 8 else "")
        raise UsageError(f"no baseline among {shown}", hint=f"--baseline {quote(labels[0])}")
    return selection.baseline


def paired_rows(selection: Selection, metric: str) -> list[dict[str, Any]]:
    """One row per candidate compared with the baseline on a metric, ready to be shown.

    Columns of `fct_paired_tests`, with `label`, `legend` and written-out texts.
    A baseline that the marts have no rows of is tested here and now. The very run that a frozen
    baseline is the scores of is not compared with it.

    Raises:
        UsageError: there is no baseline, or nothing to compare with it.
    """
    baseline = need_baseline(selection)
    found = _declared(selection, baseline, metric)
    if found is None:
        found = _on_demand(selection, baseline, metric)
    if not found:
        raise UsageError(f"nothing was compared with {selection.name(baseline)} on {metric}")
    for row in found:
        run_id = row["candidate_run_id"]
        row["label"] = selection.labels[run_id]
        row["legend"] = selection.legends[run_id]
        row["diff_text"] = difference(row["mean_diff"], row["diff_low"], row["diff_high"])
        row["p_text"] = p_value(row["p_holm"]).removeprefix("p = ").removeprefix("p ")
        row["verdict_text"] = row["verdict"] or DASH
    return found


def task_differences(selection: Selection, metric: str) -> list[tuple[Run, list[float]]]:
    """(candidate, its differences to the baseline in descending order), the largest mean first."""
    baseline = need_baseline(selection)
    found = selection.marts.rows(
        "select run_id, task_id, value from fct_task_metrics "
        "where list_contains(?, run_id) and metric = ? and value is not null",
        [*ids(_candidates(selection, baseline)), baseline.run_id],
        metric,
    )
    scores: dict[str, dict[str, float]] = {}
    for row in found:
        scores.setdefault(row["run_id"], {})[row["task_id"]] = row["value"]
    base = _frozen_scores(selection, metric) or scores.get(baseline.run_id, {})
    strips = []
    for run in _candidates(selection, baseline):
        mine = scores.get(run.run_id, {})
        differences = sorted(
            (mine[task] - base[task] for task in mine.keys() & base.keys()), reverse=True
        )
        if differences:
            strips.append((run, differences))
    return sorted(strips, key=lambda strip: -sum(strip[1]) / len(strip[1]))


def _candidates(selection: Selection, baseline: Run) -> list[Run]:
    themselves = {baseline.run_id, selection.frozen_run_id}
    return [run for run in selection.runs if run.run_id not in themselves and not run.is_control]


def _declared(selection: Selection, baseline: Run, metric: str) -> list[dict[str, Any]] | None:
    """Rows of the marts with at least one pair; None where they have none with this baseline.

    Also None where a file was named and its rows are adjusted each for itself: here p is adjusted
    over the candidates shown.
    """
    found = selection.marts.rows(
        """
        select *
        from fct_paired_tests
        where baseline_run_id = ? and list_contains(?, candidate_run_id) and metric = ?
        qualify
            row_number() over (
                partition by candidate_run_id order by family is not distinct from ? desc, family
            ) = 1
        order by mean_diff desc, candidate_run_id
        """,
        baseline.run_id,
        ids(run for run in selection.runs if run.run_id != selection.frozen_run_id),
        metric,
        selection.runs[0].family,
    )
    if selection.frozen is not None and len({row["family"] for row in found}) > 1:
        return None
    return [row for row in found if row["n_pairs"]] if found else None


def _on_demand(selection: Selection, baseline: Run, metric: str) -> list[dict[str, Any]]:
    found = selection.marts.pair_tests(
        selection.frozen or baseline, _candidates(selection, baseline), metric
    )
    paired = [dict(row) for row in found if row["n_pairs"]]
    return sorted(paired, key=lambda row: (-(row["mean_diff"] or 0), row["candidate_run_id"]))


def _frozen_scores(selection: Selection, metric: str) -> Mapping[str, float]:
    """Score per task of a baseline file; nothing where the baseline is a run."""
    if selection.frozen is None or metric not in selection.frozen.metrics:
        return {}
    values = selection.frozen.metrics[metric].values
    pairs = zip(selection.frozen.tasks, values, strict=True)
    return {task: value for task, value in pairs if value is not None}
