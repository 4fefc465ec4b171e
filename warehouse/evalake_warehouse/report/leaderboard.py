"""The leaderboard: one row per arm, best first on the primary metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalake_warehouse.charts.labels import DASH, duration, interval
from evalake_warehouse.charts.marts import ids
from evalake_warehouse.charts.selection import Selection
from evalake_warehouse.report.tables import Column, Table, arm_column, count, number, whole

METRICS = ("success@1", "success@5", "success@10", "mrr", "ndcg@10")


def leaderboard(selection: Selection) -> list[dict[str, Any]]:
    """Raw rows, best first; an arm without a score comes last and has no rank.

    Keys: rank, arm, run_id, arm_hash, system, role, n_scored, n_tasks, primary_metric, mean,
    ci_low, ci_high, chance, each of `METRICS`, p50_s, n_failed, partial. A run with part of the
    tasks only stands at the end, marked `partial`, without a rank.
    """
    left_out = {item.run.run_id: item.reason for item in selection.left_out}
    runs = [*selection.runs, *(item.run for item in selection.left_out)]
    primary = selection.primary_metric
    scores: dict[tuple[str, str], Mapping[str, Any]] = {
        (row["run_id"], row["metric"]): row
        for row in selection.marts.rows(
            "select * from fct_run_metrics "
            "where list_contains(?, run_id) and list_contains(?, metric)",
            ids(runs),
            [primary, *METRICS],
        )
    }
    latency = search_latency(selection, ids(runs))
    failed = {
        row["run_id"]: row["n_error"] + row["n_timeout"] + row["n_not_attempted"]
        for row in selection.marts.rows(
            "select * from fct_run_completeness where list_contains(?, run_id)", ids(runs)
        )
    }
    found = []
    for run in runs:
        main = scores.get((run.run_id, primary), {})
        found.append(
            {
                "rank": None,
                "arm": selection.labels.get(run.run_id, run.arm_label),
                "run_id": run.run_id,
                "arm_hash": run.arm_hash,
                "system": run.system,
                "role": run.role,
                "n_scored": main.get("n_scored", 0),
                "n_tasks": max(run.n_tasks, run.n_seen, selection.n_tasks),
                "primary_metric": primary,
                **{key: main.get(key) for key in ("mean", "ci_low", "ci_high", "chance")},
                **{m: scores.get((run.run_id, m), {}).get("mean") for m in METRICS},
                "p50_s": latency.get(run.run_id, {}).get("p50_s"),
                "n_failed": failed.get(run.run_id),
                "partial": left_out.get(run.run_id),
            }
        )
    found.sort(
        key=lambda row: (
            row["partial"] is not None,
            row["mean"] is None,
            -(row["mean"] or 0),
            row["arm"],
        )
    )
    scored = [row for row in found if row["mean"] is not None and row["partial"] is None]
    for place, row in enumerate(scored, start=1):
        row["rank"] = place
    return found


def leaderboard_table(selection: Selection) -> Table:
    """The leaderboard for a report or a terminal."""
    primary = selection.primary_metric
    rows = leaderboard(selection)
    columns = [
        Column("#", lambda row: whole(row["rank"]), align="right"),
        arm_column(),
        Column("n", count_of_tasks, align="right"),
        Column(
            f"{primary} [95 % interval]",
            lambda row: interval(row["mean"], row["ci_low"], row["ci_high"]),
            align="right",
        ),
        *[number(metric) for metric in METRICS if metric != primary],
        Column("p50 search", lambda row: duration(row["p50_s"]), align="right"),
        Column("failures", lambda row: whole(row["n_failed"]), align="right"),
    ]
    return Table("leaderboard", columns, rows)


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


def search_latency(selection: Selection, run_ids: list[str]) -> dict[str, Mapping[str, Any]]:
    """Search latency per run: warm where it was measured, else what there is."""
    found = selection.marts.rows(
        """
        select *
        from fct_run_latency
        where list_contains(?, run_id) and phase = 'search'
        qualify row_number() over (
            partition by run_id order by temperature = 'warm' desc, n desc
        ) = 1
        """,
        run_ids,
    )
    return {row["run_id"]: row for row in found}


def count_of_tasks(row: Mapping[str, Any]) -> str:
    """`120`, or `117 of 120` where some tasks have no score."""
    scored, tasks = row["n_scored"], row["n_tasks"]
    return whole(scored) if scored == tasks else f"{whole(scored)} of {whole(tasks)}"
