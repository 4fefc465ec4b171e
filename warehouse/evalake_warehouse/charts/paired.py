"""Paired comparisons with the baseline: forest plot, and wins and losses per task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evalake_warehouse.charts import rows
from evalake_warehouse.charts.labels import DASH, difference, p_value
from evalake_warehouse.charts.marts import Run, ids
from evalake_warehouse.charts.palette import MUTED, PAPER
from evalake_warehouse.charts.selection import Selection
from evalake_warehouse.charts.theme import DEFAULT, Style, finish
from evalake_warehouse.errors import UsageError

if TYPE_CHECKING:
    from evalake_warehouse.charts.theme import AnyChart

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
    axis = alt.Axis(title=f"difference in {chosen}", tickCount=5, format="+.2~f")
    x = alt.X("mean_diff:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=axis)
    colour = rows.arm_colour(selection, style, found)
    points = alt.Chart().mark_point(size=62, strokeWidth=1.8, yOffset=offset, opacity=1)
    layers = [
        alt.Chart()
        .mark_rule(color=style.hex(MUTED), strokeWidth=1.2, strokeDash=[3, 3])
        .encode(x=alt.datum(0)),
        alt.Chart()
        .mark_rule(strokeWidth=2.2, yOffset=offset)
        .encode(y=y, x="diff_low:Q", x2="diff_high:Q", color=colour),
        points.encode(
            y=y,
            x=x,
            stroke=colour,
            fill=alt.condition("datum.settled", colour, alt.value(style.hex(PAPER))),
        ),
        *rows.words(style, y, [("diff_text", 25), ("p_text", 16), ("verdict_text", 13)]),
    ]
    note = [
        f"Candidate minus {selection.labels[baseline.run_id]} on the same tasks, 95 % interval.",
        "Filled: settled. Hollow: not settled. p adjusted after Holm.",
    ]
    chart = rows.frame(style, layers, found, len(order))
    return finish(
        chart, selection, style, what=f"Paired difference in {chosen}", note=note, title=title
    )


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
            f"nothing was compared with {selection.labels[baseline.run_id]} on {metric}",
            hint=f"evalake compare {baseline.run_id} latest",
        )
    for row in found:
        run_id = row["candidate_run_id"]
        row["label"] = selection.labels[run_id]
        row["legend"] = selection.legends[run_id]
        row["settled"] = row["verdict"] in {"better", "worse", "no_difference"}
        row["diff_text"] = difference(row["mean_diff"], row["diff_low"], row["diff_high"])
        row["p_text"] = p_value(row["p_holm"])
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
