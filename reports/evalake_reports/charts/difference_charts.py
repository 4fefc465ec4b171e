"""Paired comparisons with the baseline: forest plot, and wins and losses per task."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evalake_reports.charts import rows
from evalake_reports.charts.declared import declare
from evalake_reports.charts.paired_rows import need_baseline, paired_rows, task_differences
from evalake_reports.charts.palette import LOSS, MUTED, PAPER, WIN
from evalake_reports.charts.selection import Selection
from evalake_reports.charts.theme import DEFAULT, Style, finish
from evalake_warehouse.errors import UsageError
from evalake_warehouse.questions.runs import Run

if TYPE_CHECKING:
    from evalake_reports.charts.theme import AnyChart

_MAX_STRIPS = 12
FOREST_READING = "Line: 95 % interval. Filled: better, worse or no_difference. p after Holm."
STRIPS_READING = "Each task's difference to the baseline, sorted: wins left, losses right."


@declare(
    "paired difference to the baseline; hollow where the verdict is `insufficient`",
    group="differences",
)
def forest(
    selection: Selection,
    *,
    metric: str | None = None,
    title: str | None = None,
    style: Style = DEFAULT,
) -> AnyChart:
    """Mean paired difference of every candidate to the baseline, with its 95 % interval.

    A filled point is better, worse or no_difference; a hollow one shows no difference, or may not.

    Raises:
        UsageError: the selection has no baseline, or nothing was compared with it.
    """
    import altair as alt

    chosen = selection.check_metric(metric) if metric else selection.primary_metric
    baseline = need_baseline(selection)
    found = paired_rows(selection, chosen)
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
            fill=alt.condition(
                "indexof(['better', 'worse', 'no_difference'], datum.verdict) < 0",
                alt.value(style.hex(PAPER)),
                colour,
            ),
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


@declare("every task's difference to the baseline, sorted", group="differences")
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
    strips = task_differences(selection, chosen)
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
