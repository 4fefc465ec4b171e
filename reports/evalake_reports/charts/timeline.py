"""An arm over time: the same label on the same tasks, run after run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalake_reports.charts import rows
from evalake_reports.charts.declared import declare
from evalake_reports.charts.marts import ids
from evalake_reports.charts.selection import Selection
from evalake_reports.charts.theme import DEFAULT, Style, finish
from evalake_warehouse.errors import UsageError
from evalake_warehouse.questions.runs import Run

if TYPE_CHECKING:
    from evalake_reports.charts.theme import AnyChart

TIME_READING = "Point: mean of one run. Vertical line: 95 % interval. Dotted: chance."


@declare("runs of one label on the same tasks, by start", group="time")
def arm_over_time(
    selection: Selection,
    *,
    metric: str | None = None,
    title: str | None = None,
    style: Style = DEFAULT,
) -> AnyChart:
    """Score of every run of the selected arms' labels, in the order of their start.

    Only runs on the same dataset, edition, split and tasks are drawn: another edition is
    another measure. A label keeps its line when the system's version changes.

    Raises:
        UsageError: no label has two scored runs.
    """
    import altair as alt

    chosen = selection.check_metric(metric) if metric else selection.primary_metric
    found = _history(selection, chosen)
    if not found:
        raise UsageError("no arm was run twice on these tasks")
    days = (max(row["at"] for row in found), min(row["at"] for row in found))
    same_day = days[0][:10] == days[1][:10]
    x = alt.X(
        "at:T",
        axis=rows.spec(
            title="started (UTC)",
            format="%H:%M" if same_day else "%d %b %Y",
            tickCount=5,
            labelOverlap=True,
            grid=False,
        ),
        scale=rows.spec(type="utc"),
    )
    y = alt.Y(
        "mean:Q",
        axis=rows.spec(title=chosen, tickCount=5, labelFontSize=11),
        scale=rows.spec(zero=False, nice=True),
    )
    colour, shape = rows.arm_looks(selection, style, found)
    layers = [
        *rows.chance_line(style, selection.chance(chosen)),
        rows.mark("line", strokeWidth=1.8).encode(x=x, y=y, color=colour),
        rows.mark("rule", strokeWidth=1.3, opacity=0.7).encode(
            x=x, y=alt.Y("ci_low:Q"), y2=alt.Y2("ci_high:Q"), color=colour
        ),
        rows.mark("point", filled=True, size=52, opacity=1).encode(
            x=x, y=y, color=colour, shape=shape
        ),
    ]
    chart = alt.layer(*layers, data=rows.data(found)).properties(
        width=style.width, height=style.width * 0.6
    )
    return finish(
        chart, selection, style, what=f"{chosen} over time", note=TIME_READING, title=title
    )


def _history(selection: Selection, metric: str) -> list[dict[str, Any]]:
    shown = {run.arm_label: run for run in selection.runs}
    first = selection.runs[0]
    like = [
        run for run in selection.marts.runs if run.arm_label in shown and run.place == first.place
    ]
    runs: dict[str, Run] = {
        run.run_id: run
        for run in selection.marts.with_tasks(like)
        if run.task_set == first.task_set
    }
    scores = selection.marts.rows(
        "select run_id, mean, ci_low, ci_high from fct_run_metrics "
        "where list_contains(?, run_id) and metric = ? and mean is not null",
        ids(list(runs.values())),
        metric,
    )
    found = []
    for row in scores:
        run = runs[row["run_id"]]
        now = shown[run.arm_label]
        found.append(
            {
                **row,
                "at": run.started_at.isoformat(timespec="seconds"),
                "label": selection.labels[now.run_id],
                "legend": selection.legends[now.run_id],
            }
        )
    repeated = [row["label"] for row in found]
    return sorted(
        (row for row in found if repeated.count(row["label"]) > 1), key=lambda row: row["at"]
    )
