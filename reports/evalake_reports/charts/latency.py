"""How long: search and index times with their tails, and quality against what it takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalake_reports.charts import rows
from evalake_reports.charts.declared import declare
from evalake_reports.charts.labels import duration
from evalake_reports.charts.marts import ids
from evalake_reports.charts.palette import INK, PAPER
from evalake_reports.charts.selection import Selection
from evalake_reports.charts.theme import DEFAULT, Style, finish
from evalake_warehouse.errors import UsageError

if TYPE_CHECKING:
    from evalake_reports.charts.theme import AnyChart

LATENCY_READING = "Bar or point: median (p50). Line: to the 95th percentile."
FRONT_READING = "Dashed: Pareto front. Filled: on it. Dotted: chance."
PERCENTILES = ("p50", "p95", "p99")
# Past this ratio of largest to smallest, the short bars of a linear axis cannot be read.
_LOG_RATIO = 40
DURATION_AXIS = (
    "datum.value < 0.00095 ? format(datum.value * 1e6, ',.3~r') + ' us' : "
    "datum.value < 0.95 ? format(datum.value * 1e3, ',.3~r') + ' ms' : "
    "format(datum.value, ',.3~r') + ' s'"
)


@declare(
    "p50 with a whisker to p95; p50, p95 and p99 written out; search and index apart",
    group="time",
)
def latency_bars(
    selection: Selection,
    *,
    phases: Sequence[str] = ("search", "index"),
    title: str | None = None,
    style: Style = DEFAULT,
) -> AnyChart:
    """Median time of every arm with a whisker to the 95th percentile, one panel per phase.

    Panels have an axis each: indexing and searching are never on one scale. Where times span
    more than a factor of 40 the axis is logarithmic, and points replace bars, whose length
    would mean nothing.

    Raises:
        UsageError: none of the phases was measured.
    """
    import altair as alt

    parts = []
    for phase in phases:
        found = latency_rows(selection, phase)
        if found:
            parts.append(_latency_panel(selection, style, found, phase, named=len(phases) > 1))
    if not parts:
        raise UsageError(f"no time was measured for {' or '.join(map(repr, phases))}")
    return finish(
        alt.vconcat(*parts), selection, style, what="Latency", note=LATENCY_READING, title=title
    )


def latency_rows(selection: Selection, phase: str) -> list[dict[str, Any]]:
    """One row per run that was timed in a phase, fastest first; warm times where there are any."""
    found = selection.marts.rows(
        """
        select run_id, temperature, n, p50_s, p95_s, p99_s
        from fct_run_latency
        where list_contains(?, run_id) and phase = ? and p50_s is not null
        qualify row_number() over (
            partition by run_id order by temperature = 'warm' desc, n desc
        ) = 1
        order by p50_s, run_id
        """,
        ids(selection.runs),
        phase,
    )
    for row in found:
        row["label"] = selection.labels[row["run_id"]]
        row["legend"] = selection.legends[row["run_id"]]
        for name in PERCENTILES:
            row[f"{name}_text"] = duration(row[f"{name}_s"])
        row["all_text"] = " / ".join(row[f"{name}_text"] for name in PERCENTILES)
    return found


def measured_phases(selection: Selection) -> list[str]:
    """Phases that any of the runs was timed in."""
    found = selection.marts.rows(
        "select distinct phase from fct_run_latency where list_contains(?, run_id) order by phase",
        ids(selection.runs),
    )
    return [row["phase"] for row in found]


def _latency_panel(
    selection: Selection,
    style: Style,
    found: Sequence[Mapping[str, Any]],
    phase: str,
    *,
    named: bool,
) -> Any:
    import altair as alt

    order = [row["label"] for row in found]
    y = rows.band(style, order)
    offset = rows.mark_offset(style)
    times = [row[f"{name}_s"] for row in found for name in ("p50", "p95") if row[f"{name}_s"]]
    logarithmic = bool(times) and max(times) / min(times) > _LOG_RATIO
    scale = (
        rows.spec(type="log", nice=False, domain=[min(times) / 1.6, max(times) * 1.15])
        if logarithmic
        else rows.spec(domain=[0, max([*times, 1e-9]) * 1.04], nice=False)
    )
    axis = rows.spec(title=None, labelExpr=DURATION_AXIS, labelOverlap=True, tickCount=4)
    if logarithmic:
        axis["values"] = log_ticks(min(times) / 1.6, max(times) * 1.15)
    x = alt.X("p50_s:Q", scale=scale, axis=axis)
    colour = rows.arm_colour(selection, style, found)
    thickness = rows.bar_size(style)
    mark = (
        rows.mark("point", filled=True, size=70, opacity=1, yOffset=offset)
        if logarithmic
        else rows.mark("bar", size=thickness, yOffset=offset)
    )
    whisker = rows.mark("rule", color=style.hex(INK), strokeWidth=1.3, yOffset=offset)
    columns = (
        [rows.TextColumn("all_text", 26)]
        if style.compact
        else [rows.TextColumn(f"{name}_text", 10, name) for name in PERCENTILES]
    )
    layers = [
        whisker.encode(y=y, x=alt.X("p50_s:Q"), x2=alt.X2("p95_s:Q")),
        mark.encode(y=y, x=x, color=colour),
        *rows.words(style, y, columns),
    ]
    if not logarithmic:
        layers[:2] = layers[1::-1]
    temperatures = {row["temperature"] for row in found}
    what = f"{phase}, {temperatures.pop()}" if len(temperatures) == 1 else phase
    what += ", logarithmic scale" if logarithmic else ""
    if style.compact:
        what += "  (p50 / p95 / p99)"
    chart = rows.frame(style, layers, found, len(order))
    return rows.titled(chart, what) if named or style.compact else chart


@declare(
    "score against index time, with the Pareto front",
    group="time",
    name="quality_against_index_time",
    phase="index",
)
@declare(
    "score against search time, with the Pareto front",
    group="time",
    name="quality_against_latency",
)
def quality_against_cost(
    selection: Selection,
    *,
    metric: str | None = None,
    phase: str = "search",
    percentile: str = "p50",
    title: str | None = None,
    style: Style = DEFAULT,
) -> AnyChart:
    """Score against time, with intervals and the Pareto front.

    An arm is on the front where no other is both at least as good and as fast.

    Args:
        phase: `search`, or `index` for what a corpus costs before the first question.

    Raises:
        UsageError: no arm has both a score and a time.
    """
    import altair as alt

    if percentile not in PERCENTILES:
        raise UsageError(f"no percentile {percentile!r}; there are: {', '.join(PERCENTILES)}")
    chosen = selection.check_metric(metric) if metric else selection.primary_metric
    found = _quality_rows(selection, chosen, phase, percentile)
    if not found:
        raise UsageError(f"no arm has both a score on {chosen} and a time for {phase!r}")
    # A control is a yardstick: chance is always fast.
    controls = {run.run_id for run in selection.runs if run.is_control}
    front = pareto_front([row for row in found if row["run_id"] not in controls])
    for row in found:
        row["front"] = row["run_id"] in front
    times = [row["seconds"] for row in found]
    tops = [row["ci_high"] if row["ci_high"] is not None else row["mean"] for row in found]
    x_domain = (min(times) / 1.7, max(times) * 1.7)
    y_domain = [0.0, 1.0 if max(tops) > 0.6 else max(0.05, max(tops) * 1.08)]
    height = style.width * (1.0 if style.compact else 0.72)
    x = alt.X(
        "seconds:Q",
        scale=rows.spec(type="log", domain=list(x_domain), nice=False),
        axis=rows.spec(
            title=f"{phase} time, {percentile} (logarithmic)",
            labelExpr=DURATION_AXIS,
            values=log_ticks(*x_domain),
            labelOverlap=True,
            grid=True,
        ),
    )
    y = alt.Y(
        "mean:Q",
        scale=rows.spec(domain=y_domain, nice=False),
        axis=rows.spec(title=chosen, tickCount=5, labelFontSize=11),
    )
    colour, shape = rows.arm_looks(selection, style, found)
    layers = [
        *rows.chance_line(style, selection.chance(chosen)),
        rows.mark(
            "line",
            data=rows.data([row for row in found if row["front"]]),
            interpolate="step-after",
            strokeWidth=1.2,
            strokeDash=[4, 3],
            color=style.hex(INK),
        ).encode(x=x, y=y, order=alt.Order("seconds:Q")),
        rows.mark("rule", strokeWidth=1.6, opacity=0.8).encode(
            x=x, y=alt.Y("ci_low:Q"), y2=alt.Y2("ci_high:Q"), color=colour
        ),
        rows.mark("point", size=86, strokeWidth=2, opacity=1).encode(
            x=x,
            y=y,
            stroke=colour,
            fill=alt.condition("datum.front", colour, alt.value(style.hex(PAPER))),
            shape=shape,
        ),
    ]
    chart = alt.layer(*layers, data=rows.data(found)).properties(width=style.width, height=height)
    return finish(
        chart,
        selection,
        style,
        what=f"{chosen} against {phase} time",
        note=FRONT_READING,
        title=title,
    )


def log_ticks(low: float, high: float) -> list[float]:
    """Decades between two positive bounds, with 2 and 5 of each where there are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1,) if last - first > 3 else (1, 2, 5)
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    return [tick for tick in ticks if low <= tick <= high]


def pareto_front(found: Sequence[Mapping[str, Any]]) -> set[str]:
    """Run ids of rows that no other row beats in `mean` and `seconds` at once."""
    return {
        row["run_id"]
        for row in found
        if not any(
            other["mean"] >= row["mean"]
            and other["seconds"] <= row["seconds"]
            and (other["mean"], other["seconds"]) != (row["mean"], row["seconds"])
            for other in found
        )
    }


def _quality_rows(
    selection: Selection, metric: str, phase: str, percentile: str
) -> list[dict[str, Any]]:
    times = {row["run_id"]: row for row in latency_rows(selection, phase)}
    scores = selection.marts.rows(
        "select run_id, mean, ci_low, ci_high from fct_run_metrics "
        "where list_contains(?, run_id) and metric = ? and mean is not null order by run_id",
        ids(selection.runs),
        metric,
    )
    return [
        {
            **row,
            "seconds": times[row["run_id"]][f"{percentile}_s"],
            "label": selection.labels[row["run_id"]],
            "legend": selection.legends[row["run_id"]],
        }
        for row in scores
        if row["run_id"] in times and times[row["run_id"]][f"{percentile}_s"]
    ]
