"""The leaderboard: one row per arm, best first on the primary metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from evalake_reports.charts.labels import DASH, duration, interval
from evalake_reports.charts.marts import ids
from evalake_reports.charts.selection import Selection
from evalake_reports.report.dataset_facts import (
    cell,
    completeness_of,
    everyone,
    metric_rows,
    n_failed,
    not_scored,
    reasons_text,
    search_latency,
)
from evalake_reports.report.tables import Column, Table, arm_column, count, number, whole
from evalake_warehouse.questions.cautions import COUNTED, is_suspect
from evalake_warehouse.questions.definitions import SHOWN_METRICS

_SCORE = ("mean", "ci_low", "ci_high", "wilson_low", "wilson_high", "chance")


def leaderboard(selection: Selection) -> list[dict[str, Any]]:
    """Raw rows, best first; equal means share a rank.

    Keys: rank, arm, run_id, arm_hash, system, role, depth, n_scored, n_tasks, primary_metric, mean,
    ci_low, ci_high, wilson_low, wilson_high, chance, each of `SHOWN_METRICS`, p50_s, n_failed,
    not_scored (tasks by reason), partial, suspect, cautions. What has no rank comes after: arms
    without a score, runs with part of the tasks only (`partial` says which), suspect runs.
    """
    left_out = {item.run.run_id: item.reason for item in selection.left_out}
    runs = everyone(selection)
    primary = selection.primary_metric
    scores = metric_rows(selection, [primary, *SHOWN_METRICS])
    latency = search_latency(selection)
    completeness = completeness_of(selection)
    reasons = not_scored(selection)
    found = []
    for run in runs:
        main = scores.get((run.run_id, primary))
        found.append(
            {
                "rank": None,
                "arm": selection.labels.get(run.run_id, run.arm_label),
                "run_id": run.run_id,
                "arm_hash": run.arm_hash,
                "system": run.system,
                "role": run.role,
                "depth": run.depth,
                "n_scored": cell(main, "n_scored") or 0,
                "n_tasks": max(run.n_tasks, run.n_seen, selection.n_tasks),
                "primary_metric": primary,
                **{key: cell(main, key) for key in _SCORE},
                **{m: cell(scores.get((run.run_id, m)), "mean") for m in SHOWN_METRICS},
                "p50_s": cell(latency.get(run.run_id), "p50_s"),
                "n_failed": n_failed(completeness.get(run.run_id)),
                "not_scored": reasons[run.run_id],
                "partial": left_out.get(run.run_id),
                "suspect": is_suspect(selection.cautions[run.run_id]),
                "cautions": [one.record() for one in selection.cautions[run.run_id]],
            }
        )
    found.sort(
        key=lambda row: (
            row["suspect"],
            row["partial"] is not None,
            row["mean"] is None,
            -(row["mean"] or 0),
            row["arm"],
        )
    )
    ranked = [
        row
        for row in found
        if row["mean"] is not None and row["partial"] is None and not row["suspect"]
    ]
    for row in ranked:
        row["rank"] = 1 + sum(other["mean"] > row["mean"] for other in ranked)
    return found


def has_rank(selection: Selection) -> bool:
    """Whether any run of it can be ranked."""
    return any(row["rank"] is not None for row in leaderboard(selection))


def leaderboard_table(selection: Selection) -> Table:
    """The leaderboard for a report or a terminal."""
    primary = selection.primary_metric
    rows = leaderboard(selection)
    columns = [
        rank_column(rows),
        arm_column(),
        Column("n", count_of_tasks, align="right"),
        Column(f"{primary} [95 % interval]", scored, align="right"),
        *[number(metric) for metric in SHOWN_METRICS if metric != primary],
        Column("search p50", lambda row: duration(row["p50_s"]), align="right"),
        NOT_SCORED,
        *caution_column(rows),
    ]
    caption = "; ".join(caution.text for caution in selection.shared_cautions)
    return Table("leaderboard", columns, rows, caption=caption)


def interval_table(selection: Selection) -> Table:
    """The primary metric's intervals side by side: bootstrap, Wilson, clustered; and the mean
    that counts failures as 0.
    """
    found = selection.marts.rows(
        "select * from fct_run_metrics where list_contains(?, run_id) and metric = ? "
        "order by mean desc nulls last, run_id",
        ids(selection.runs),
        selection.primary_metric,
    )
    for row in found:
        row["arm"] = selection.labels[row["run_id"]]
    columns = [
        arm_column(),
        count("n_scored", "scored"),
        number("mean"),
        _bounds("bootstrap", "ci"),
        _bounds("Wilson", "wilson"),
        _bounds("by stratum", "cluster"),
        count("n_clusters", "strata"),
        number("mean_strict", "failures as 0"),
        number("chance"),
    ]
    caption = f"{selection.primary_metric}: all intervals"
    return Table("intervals", columns, found, caption=caption, folded=True)


def _bounds(title: str, prefix: str) -> Column:
    def write(row: Mapping[str, Any]) -> str:
        low, high = row[f"{prefix}_low"], row[f"{prefix}_high"]
        return DASH if low is None or high is None else f"[{low:.3f}, {high:.3f}]"

    return Column(title, write, align="right")


def printable(selection: Selection) -> list[dict[str, str]]:
    """The leaderboard as rows of text, for `print_rows`."""
    table = leaderboard_table(selection)
    return [{column.title: column.write(row) for column in table.columns} for row in table.rows]


def scored(row: Mapping[str, Any]) -> str:
    """A mean with its bootstrap interval, or Wilson's where all tasks score the same.

    Resampling equal scores gives an interval without width, which would claim to know.
    """
    low, high = row["ci_low"], row["ci_high"]
    if low == high:
        low, high = row["wilson_low"], row["wilson_high"]
    return interval(row["mean"], low, high)


def _why_not(row: Mapping[str, Any]) -> str:
    parts = [row["partial"] or "", reasons_text(row["not_scored"])]
    return "; ".join(filter(None, parts)) or DASH


NOT_SCORED = Column("not scored", _why_not)


def rank_column(rows: Sequence[Mapping[str, Any]]) -> Column:
    """The place of each row; `2=` where several share it."""
    shared = Counter(row["rank"] for row in rows if row["rank"] is not None)

    def write(row: Mapping[str, Any]) -> str:
        return whole(row["rank"]) + ("=" if shared[row["rank"]] > 1 else "")

    return Column("#", write, align="right")


def caution_column(rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """The column of cautions, if any arm has one that no other column shows."""
    return [Column("caution", _caution, kind="long")] if any(map(_untold, rows)) else []


def _caution(row: Mapping[str, Any]) -> str:
    return "; ".join(_untold(row)) or DASH


def _untold(row: Mapping[str, Any]) -> list[str]:
    return [one["text"] for one in row["cautions"] if one["code"] not in COUNTED]


def count_of_tasks(row: Mapping[str, Any]) -> str:
    """`120`, or `117 of 120` where some tasks have no score."""
    scored, tasks = row["n_scored"], row["n_tasks"]
    return whole(scored) if scored == tasks else f"{whole(scored)} of {whole(tasks)}"
