"""The report in short: what a pull request or a page of docs needs to show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evalake_reports.charts.frozen_baselines import with_known
from evalake_reports.charts.labels import DASH, chance_text, duration
from evalake_reports.charts.selection import Selection
from evalake_reports.report.dataset_facts import (
    cell,
    cost_rows,
    dataset_row,
    drop_rows,
    metric_rows,
    reasons_text,
    search_latency,
)
from evalake_reports.report.leaderboard import (
    NOT_SCORED,
    caution_column,
    count_of_tasks,
    leaderboard,
    rank_column,
    scored,
)
from evalake_reports.report.quality import paired_table, warnings
from evalake_reports.report.resources import INDEX_TIME
from evalake_reports.report.tables import Column, Section, Table, arm_column, size, whole
from evalake_warehouse.questions.definitions import SHOWN_METRICS


def summary(selection: Selection) -> Section:
    """Scores, comparisons with the baseline, times, and what was left out, of one panel."""
    against = [_against_baseline(one) for one in (selection, *with_known(selection))]
    tables = [_scores(selection), *against, _times(selection)]
    return Section(
        "summary",
        selection.heading,
        text=[_setting(selection), *warnings(selection), _left_out(selection)],
        tables=[table for table in tables if table is not None],
    )


def _setting(selection: Selection) -> str:
    """One line: the metric that decides, and the baseline."""
    metric = selection.primary_metric
    chance = chance_text(selection.chance(metric))
    if selection.baseline is None:
        return f"Primary metric: {metric}. {chance} No run has the role of a baseline."
    return f"Primary metric: {metric}. {chance} Baseline: {selection.name(selection.baseline)}."


def _left_out(selection: Selection) -> str:
    """The dataset's rows and drops in one line."""
    dataset = dataset_row(selection)
    if dataset is None:
        return "The lake has no record of the dataset."
    counts = ", ".join(
        f"{whole(dataset[f'rows_{what}'])} {what}" for what in ("read", "kept", "dropped")
    )
    dropped = {row["reason"]: row["n"] for row in drop_rows(selection)}
    reasons = f" (drops: {reasons_text(dropped)})" if dropped else ""
    edition = f"{dataset['dataset']} edition {dataset['edition']}, revision {dataset['revision']}"
    return f"{edition}: rows {counts}{reasons}."


def _scores(selection: Selection) -> Table:
    metrics = dict.fromkeys([selection.primary_metric, *SHOWN_METRICS])
    scores = metric_rows(selection, list(metrics))
    shown = [name for name in metrics if name in {*selection.metrics, selection.primary_metric}]
    rows = [
        {**row, "scores": {name: scores.get((row["run_id"], name)) for name in shown}}
        for row in leaderboard(selection)
    ]
    columns = [
        rank_column(rows),
        arm_column(),
        Column("n", count_of_tasks, align="right"),
        *map(_score_column, shown),
        NOT_SCORED,
        *caution_column(rows),
    ]
    return Table("scores", columns, rows, caption="Scores, with 95 % intervals")


def _score_column(metric: str) -> Column:
    def write(row: Mapping[str, Any]) -> str:
        score = row["scores"][metric]
        return "not scored" if score is None else scored(score)

    return Column(metric, write, align="right")


def _against_baseline(selection: Selection) -> Table | None:
    table = paired_table(selection, selection.primary_metric)
    if table is None or selection.baseline is None:
        return None
    caption = (
        f"{selection.primary_metric}, candidate minus {selection.name(selection.baseline)}, on "
        "tasks that both were scored on"
    )
    return replace(table, caption=caption)


def _times(selection: Selection) -> Table:
    searches = search_latency(selection)
    costs = {row["run_id"]: row for row in cost_rows(selection)}
    rows = []
    for run in selection.runs:
        cost = costs.get(run.run_id, {"index_s": None, "n_cached": 0, "bytes_on_disk": None})
        row = {"arm": selection.labels[run.run_id], "run_id": run.run_id, **cost}
        row["search"] = searches.get(run.run_id)
        rows.append(row)
    columns = [
        arm_column(),
        *(_search_column(name) for name in ("p50", "p95")),
        Column("searches", _measured),
        INDEX_TIME,
        Column("index size", lambda row: size(row["bytes_on_disk"]), align="right"),
    ]
    return Table("times", columns, rows, caption="Time")


def _search_column(name: str) -> Column:
    return Column(
        f"search {name}", lambda row: duration(cell(row["search"], f"{name}_s")), align="right"
    )


def _measured(row: Mapping[str, Any]) -> str:
    search = row["search"]
    return f"{whole(search['n'])} {search['temperature']}" if search else DASH
