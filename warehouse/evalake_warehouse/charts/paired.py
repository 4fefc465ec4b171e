"""Paired comparisons with the baseline: forest plot, and wins and losses per task."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evalake_warehouse.charts import rows
from evalake_warehouse.charts.labels import DASH, difference, p_value
from evalake_warehouse.charts.marts import Run, ids
from evalake_warehouse.charts.palette import LOSS, MUTED, PAPER, WIN
from evalake_warehouse.charts.selection import Selection
from evalake_warehouse.charts.theme import DEFAULT, Style, finish
from evalake_warehouse.errors import UsageError

if TYPE_CHECKING:
    from evalake_warehouse.charts.theme import AnyChart

_MAX_STRIPS = 12
FOREST_READING = "Line: 95 % interval. Filled: settled. Hollow: not settled. p after Holm."
STRIPS_READING = "Each task's difference to the baseline, sorted: wins left, losses right."
VERDICTS = {
    "better": "better",
    "worse": "worse",
    "no_difference": "no difference",
    "insufficient": "not settled",
}


def forest(
    selection: Selection,
    *,
    metric: str | None = None,
    title: str | None = None,
    style: Style = DEFAULT,
) -> AnyChart:
    """Mean paired difference of every candidate to the baseline, with its 95 % interval.

    A filled point is a settled verdict (better, worse or no difference), a hollow one is not.

    Raises:
        UsageError: the selection has no baseline, or nothing was compared with it.
    """
    import altair as alt

    chosen = selection.check_metric(metric) if metric else selection.primary_metric
    baseline = need_baseline(selection)
    found = paired_rows(selection, baseline, chosen)
    order = [row["label"] for row in sorted(found, key=lambda row: -(row["mean_diff"] or 0))]
    y = rows.band(style, order)
    offset = rows.mark_offset(style)
    ends = [
        abs(row[key])
        for row in found
        for key in ("diff_low", "diff_high", "mean_diff")
        if row[key] is not None
    ]
    reach = max([0.02, *ends]) * 1.08
    axis = rows.spec(
        title=f"difference in {chosen}",
        tickCount=5,
        labelExpr="datum.value == 0 ? '0' : format(datum.value, '+.2~f')",
    )
    x = alt.X("mean_diff:Q", scale=rows.spec(domain=[-reach, reach], nice=False), axis=axis)
    colour = rows.arm_colour(selection, style, found)
    points = rows.mark("point", size=62, strokeWidth=1.8, yOffset=offset, opacity=1)
    layers = [
        rows.mark("rule", color=style.hex(MUTED), strokeWidth=1.2, strokeDash=[3, 3]).encode(
            x=alt.XDatum(0)
        ),
        rows.mark("rule", strokeWidth=2.2, yOffset=offset).encode(
            y=y, x=alt.X("diff_low:Q"), x2=alt.X2("diff_high:Q"), color=colour
        ),
        points.encode(
            y=y,
            x=x,
            stroke=colour,
            fill=alt.condition("datum.settled", colour, alt.value(style.hex(PAPER))),
        ),
        *rows.words(
            style,
            y,
            [
                rows.TextColumn("diff_text", 25, "difference"),
                rows.TextColumn("p_text", 11, "p (Holm)"),
                rows.TextColumn("verdict_text", 13, "verdict"),
            ],
        ),
    ]
    note = [f"Candidate minus {selection.name(baseline)} on the same tasks.", FOREST_READING]
    chart = rows.frame(style, layers, found, len(order))
    return finish(
        chart, selection, style, what=f"Paired difference in {chosen}", note=note, title=title
    )


def wins_and_losses(
    selection: Selection,
    *,
    metric: str | None = None,
    candidates: Sequence[str] = (),
    title: str | None = None,
    style: Style = DEFAULT,
) -> AnyChart:
    """Every task's difference to the baseline, sorted, one strip per candidate.

    Args:
        candidates: run ids. Default: all candidates with a score, at most 12, those with the
            largest mean difference first; the note says how many there are.

    Raises:
        UsageError: there is no baseline, or no task that it shares with a candidate.
    """
    import altair as alt

    chosen = selection.check_metric(metric) if metric else selection.primary_metric
    baseline = need_baseline(selection)
    strips = _strips(selection, baseline, chosen)
    if candidates:
        strips = [strip for strip in strips if strip[0].run_id in candidates]
    if not strips:
        raise UsageError(
            f"no candidate shares a task scored on {chosen} with {selection.name(baseline)}"
        )
    panels = [_strip_panel(selection, style, *strip) for strip in strips[:_MAX_STRIPS]]
    note = [f"Each task's {chosen} minus that of {selection.name(baseline)}, sorted."]
    if len(strips) > _MAX_STRIPS:
        note.append(f"The {_MAX_STRIPS} candidates with the largest mean, of {len(strips)}.")
    chart = alt.vconcat(*panels, spacing=14)
    return finish(chart, selection, style, what="Wins and losses per task", note=note, title=title)


def _strips(selection: Selection, baseline: Run, metric: str) -> list[tuple[Run, list[float]]]:
    """(candidate, its differences in descending order), the largest mean first."""
    found = selection.marts.rows(
        """
        select candidate.run_id, candidate.value - baseline.value as difference
        from fct_task_metrics as candidate
        inner join fct_task_metrics as baseline
            on candidate.task_id = baseline.task_id and candidate.metric = baseline.metric
        where
            list_contains(?, candidate.run_id) and baseline.run_id = ? and candidate.metric = ?
            and difference is not null
        order by candidate.run_id, difference desc
        """,
        [run.run_id for run in selection.runs if run is not baseline and not run.is_control],
        baseline.run_id,
        metric,
    )
    differences: dict[str, list[float]] = {}
    for row in found:
        differences.setdefault(row["run_id"], []).append(row["difference"])
    strips = [(run, differences[run.run_id]) for run in selection.runs if run.run_id in differences]
    return sorted(strips, key=lambda strip: -sum(strip[1]) / len(strip[1]))


def _strip_panel(selection: Selection, style: Style, run: Run, differences: list[float]) -> Any:
    import altair as alt

    wins = sum(round(value, 9) > 0 for value in differences)
    losses = sum(round(value, 9) < 0 for value in differences)
    # Equal neighbours become one bar, so that a strip of a thousand tasks stays small and clean.
    # Ties have none: they lie between wins and losses, and only their number matters.
    parts = []
    start = 0
    for value, group in itertools.groupby(round(value, 9) for value in differences):
        end = start + len(list(group))
        if value:
            parts.append({"start": start, "end": end, "difference": value, "won": value > 0})
        start = end
    x_scale = rows.spec(domain=[0, len(differences)], nice=False)
    bars = rows.mark("rect", data=rows.data(parts), stroke=None).encode(
        x=alt.X("start:Q", scale=x_scale, axis=None),
        x2=alt.X2("end:Q"),
        y=alt.Y(
            "difference:Q",
            scale=rows.spec(domain=[-1, 1]),
            axis=rows.spec(title=None, values=[-1, 0, 1], labelFontSize=10, grid=False),
        ),
        y2=alt.Y2Datum(0),
        color=alt.Color(
            "won:N",
            legend=None,
            scale=rows.spec(domain=[True, False], range=[style.hex(WIN), style.hex(LOSS)]),
        ),
    )
    line = rows.mark(
        "rule", data=rows.data([{"zero": 0}]), color=style.hex(MUTED), strokeWidth=0.8
    ).encode(y=alt.Y("zero:Q"))
    ties = len(differences) - wins - losses
    heading = f"{selection.labels[run.run_id]}: {wins} won, {losses} lost, {ties} equal"
    chart = alt.layer(bars, line).properties(width=style.width, height=36)
    return rows.titled(chart, heading)


def paired_rows(selection: Selection, baseline: Run, metric: str) -> list[dict[str, Any]]:
    """One row per candidate compared with the baseline on a metric.

    Raises:
        UsageError: there is none.
    """
    found = selection.marts.rows(
        """
        select *
        from fct_paired_tests
        where baseline_run_id = ? and list_contains(?, candidate_run_id) and metric = ?
        qualify row_number() over (partition by candidate_run_id order by family) = 1
        """,
        baseline.run_id,
        ids(selection.runs),
        metric,
    )
    if not found:
        raise UsageError(
            f"nothing was compared with {selection.name(baseline)} on {metric}",
            hint=f"evalake compare {baseline.run_id} latest",
        )
    for row in found:
        run_id = row["candidate_run_id"]
        row["label"] = selection.labels[run_id]
        row["legend"] = selection.legends[run_id]
        row["settled"] = row["verdict"] in {"better", "worse", "no_difference"}
        row["diff_text"] = difference(row["mean_diff"], row["diff_low"], row["diff_high"])
        row["p_text"] = p_value(row["p_holm"]).removeprefix("p = ").removeprefix("p ")
        row["verdict_text"] = VERDICTS.get(row["verdict"], row["verdict"] or DASH)
    return found


def need_baseline(selection: Selection) -> Run:
    """The selection's baseline.

    Raises:
        UsageError: no run of it has the role `baseline`.
    """
    if selection.baseline is None:
        labels: Sequence[str] = [selection.labels[run.run_id] for run in selection.runs]
        raise UsageError(f"no baseline among {', '.join(labels)}", hint=f"--baseline '{labels[0]}'")
    return selection.baseline
