"""Where the score comes from: slices of the tasks, and the rank at which the gold stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evalake_reports.charts import rows
from evalake_reports.charts.declared import declare
from evalake_reports.charts.labels import DASH, chance_text
from evalake_reports.charts.marts import ids
from evalake_reports.charts.palette import CONTROL, INK, MUTED, STEP_INK, STEPS, Colour
from evalake_reports.charts.scores import order_by_score, score_rows
from evalake_reports.charts.selection import Selection
from evalake_reports.charts.theme import DEFAULT, Style, finish
from evalake_warehouse.errors import UsageError

if TYPE_CHECKING:
    import altair as alt

    from evalake_reports.charts.theme import AnyChart

# (last rank of the bucket, its name); the best first.
_BUCKETS = ((1, "rank 1"), (3, "2 to 3"), (5, "4 to 5"), (10, "6 to 10"))
_LATER, _ABSENT, _UNSCORED = "below 10", "not found", "no score"


@declare("mean per question type (or another label)", group="tasks")
def breakout_heatmap(
    selection: Selection,
    *,
    dimension: str = "qa_type",
    metric: str | None = None,
    title: str | None = None,
    style: Style = DEFAULT,
) -> AnyChart:
    """Mean score per arm and value of a label, e.g. per question type; n stands with the value.

    Raises:
        UsageError: the tasks have no such label, or one value of it only.
    """
    import altair as alt

    chosen = selection.check_metric(metric) if metric else selection.primary_metric
    found = selection.marts.rows(
        """
        select run_id, value, n_scored, mean
        from fct_run_breakouts
        where list_contains(?, run_id) and dimension = ? and metric = ?
        order by value
        """,
        ids(selection.runs),
        dimension,
        chosen,
    )
    values = list(dict.fromkeys(row["value"] for row in found))
    if len(values) < 2:
        raise UsageError(f"the tasks have fewer than two values of {dimension!r}")
    largest = {v: max(row["n_scored"] or 0 for row in found if row["value"] == v) for v in values}
    heads = [{"value": value, "n_text": f"n = {largest[value]}"} for value in values]
    cell = max(style.width / len(values), 46 if style.compact else 64)
    for row in found:
        row["label"] = selection.labels[row["run_id"]]
        row["step"] = _step(row["mean"])
        row["text"] = DASH if row["mean"] is None else f"{row['mean']:.2f}"
    order = order_by_score(selection, score_rows(selection, [chosen]), chosen)
    order = [label for label in order if any(row["label"] == label for row in found)]
    y = rows.band(style, order)
    x = alt.X("value:N", sort=values, axis=None, scale=rows.spec(paddingInner=0.03, paddingOuter=0))
    offset = rows.mark_offset(style) * 1.25
    layers = [
        rows.mark(
            "rect", height=19 if style.compact else style.row_height - 2, yOffset=offset
        ).encode(x=x, y=y, color=_step_colour(style, STEPS)),
        rows.mark("text", fontSize=11.5, yOffset=offset).encode(
            x=x, y=y, text=alt.Text("text:N"), color=_step_colour(style, STEP_INK)
        ),
        *[
            rows.mark(
                "text",
                baseline="bottom",
                fontSize=11,
                limit=cell - 4,
                data=rows.data(heads),
                color=style.hex(MUTED),
            ).encode(x=x, y=rows.at("y", lift), text=alt.Text(f"{field}:N"))
            for field, lift in (("value", -19), ("n_text", -5))
        ],
        *[
            layer.properties(data=rows.data([{"label": label} for label in order]))
            for layer in rows.words(style, y, [])
        ],
    ]
    chart = alt.layer(*layers, data=rows.data(found)).resolve_scale(color="independent")
    chart = chart.properties(width=cell * len(values), height=len(order) * style.row_height)
    return finish(
        chart,
        selection,
        style,
        what=f"{chosen} by {dimension}",
        note=chance_text(selection.chance(chosen)),
        title=title,
    )


@declare("at which rank the first relevant hit stands", group="tasks")
def gold_ranks(
    selection: Selection, *, title: str | None = None, style: Style = DEFAULT
) -> AnyChart:
    """Share of tasks by the rank of their first relevant hit, one bar per arm.

    Raises:
        UsageError: no task of these runs was scored.
    """
    import altair as alt

    found = rank_rows(selection)
    if not found:
        raise UsageError("no task of these runs was scored")
    buckets = _bucket_names()
    order = sorted(
        {row["label"] for row in found},
        key=lambda label: [
            -sum(row["share"] for row in found if row["label"] == label and row["place"] <= place)
            for place in range(len(buckets))
        ],
    )
    present = [name for name in buckets if any(row["bucket"] == name for row in found)]
    colours = _bucket_colours(style)
    y = rows.band(style, order)
    offset = rows.mark_offset(style)
    scale = rows.spec(domain=present, range=[colours[name] for name in present])
    legend = rows.spec(
        title="first relevant hit",
        direction="horizontal",
        columns=4 if style.compact else 7,
        symbolType="square",
        orient="top",
        symbolStrokeWidth=0.6,
    )
    layers = [
        rows.mark(
            "bar",
            size=rows.bar_size(style) + 3,
            yOffset=offset,
            stroke=style.hex(INK),
            strokeWidth=0.25,
            cornerRadiusEnd=0,
        ).encode(
            y=y,
            x=alt.X(
                "start:Q",
                scale=rows.spec(domain=[0, 1]),
                axis=rows.spec(title="share of tasks", format=".0%", tickCount=4),
            ),
            x2=alt.X2("end:Q"),
            color=alt.Color("bucket:N", sort=present, scale=scale, legend=legend),
        ),
        *[
            layer.properties(data=rows.data([row for row in found if row["start"] == 0]))
            for layer in rows.words(style, y, [rows.TextColumn("first_text", 12)])
        ],
    ]
    chart = rows.frame(style, layers, found, len(order))
    return finish(chart, selection, style, what="Rank of the gold", title=title)


def rank_rows(selection: Selection) -> list[dict[str, Any]]:
    """Rows of arm x bucket: number and share of tasks, and where the bar's part starts and ends."""
    found = selection.marts.rows(
        """
        with scored as (
            select run_id, task_id, bool_or(value is not null) as is_scored
            from fct_task_metrics
            where list_contains($1, run_id) and not contains(metric, ':')
            group by run_id, task_id
        ),
        first_hits as (
            select run_id, task_id, min(coalesce(unit_rank, rank)) as first_rank
            from fct_hits
            where list_contains($1, run_id) and relevant
            group by run_id, task_id
        )
        select scored.run_id, is_scored, first_rank, count(*) as n
        from scored
        left join first_hits using (run_id, task_id)
        group by all
        """,
        ids(selection.runs),
    )
    counts: dict[str, dict[str, int]] = {}
    for row in found:
        bucket = _bucket(row["first_rank"]) if row["is_scored"] else _UNSCORED
        counts.setdefault(row["run_id"], {}).setdefault(bucket, 0)
        counts[row["run_id"]][bucket] += row["n"]
    return [
        part
        for run in selection.runs
        if run.run_id in counts and set(counts[run.run_id]) != {_UNSCORED}
        for part in _bar_parts(selection.labels[run.run_id], counts[run.run_id])
    ]


def _bar_parts(label: str, counts: dict[str, int]) -> list[dict[str, Any]]:
    total = sum(counts.values())
    parts, start = [], 0
    for place, bucket in enumerate(_bucket_names()):
        n = counts.get(bucket, 0)
        if n:
            parts.append(
                {
                    "label": label,
                    "bucket": bucket,
                    "place": place,
                    "n": n,
                    "share": n / total,
                    "start": start / total,
                    "end": (start + n) / total,
                    "first_text": f"{counts.get(_BUCKETS[0][1], 0)} of {total} first",
                }
            )
        start += n
    return parts


def _bucket(rank: int | None) -> str:
    if rank is None:
        return _ABSENT
    return next((name for last, name in _BUCKETS if rank <= last), _LATER)


def _bucket_names() -> list[str]:
    return [*(name for _, name in _BUCKETS), _LATER, _ABSENT, _UNSCORED]


def _bucket_colours(style: Style) -> dict[str, str]:
    shades = [STEPS[6], STEPS[5], STEPS[4], STEPS[3], STEPS[2], STEPS[0], CONTROL]
    return dict(zip(_bucket_names(), map(style.hex, shades), strict=True))


def _step_colour(style: Style, shades: Sequence[Colour]) -> alt.Color:
    import altair as alt

    scale = rows.spec(domain=list(range(len(shades))), range=[style.hex(c) for c in shades])
    return alt.Color("step:O", scale=scale, legend=None)


def _step(mean: float | None) -> int:
    if mean is None:
        return 0
    return min(len(STEPS) - 1, max(0, int(mean * len(STEPS))))
