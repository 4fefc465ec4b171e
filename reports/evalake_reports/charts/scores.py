"""How good: mean scores with intervals and the chance level, one row per arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evalake_reports.charts import rows
from evalake_reports.charts.declared import declare
from evalake_reports.charts.labels import interval
from evalake_reports.charts.marts import ids
from evalake_reports.charts.palette import INK, MUTED
from evalake_reports.charts.selection import Selection
from evalake_reports.charts.theme import DEFAULT, Style, finish

if TYPE_CHECKING:
    from evalake_reports.charts.theme import AnyChart

READING = "Bar: mean. Line: 95 % interval. Tick: chance."


@declare("mean, 95 % interval and chance level per arm", group="scores")
def score_bars(
    selection: Selection,
    *,
    metrics: Sequence[str] | None = None,
    title: str | None = None,
    style: Style = DEFAULT,
) -> AnyChart:
    """Mean score of every arm with its 95 % interval and the chance level.

    Args:
        metrics: one panel each. Default: the primary metric, MRR and nDCG@10.

    Raises:
        UsageError: a metric that no run here has.
    """
    import altair as alt

    if (not style.compact and metrics is None) or len(metrics or ()) > 1:
        style = style.at_width(min(style.width, 230))
    chosen = [selection.check_metric(m) for m in metrics] if metrics else headline(selection)
    found = score_rows(selection, chosen)
    order = order_by_score(selection, found, chosen[0])
    parts = []
    for number, metric in enumerate(chosen):
        part = [row for row in found if row["metric"] == metric]
        panel = score_panel(selection, style, part, order, names=number == 0)
        parts.append(rows.titled(panel, metric) if len(chosen) > 1 else panel)
    joined = alt.vconcat(*parts) if style.compact else alt.hconcat(*parts)
    return finish(joined, selection, style, what=", ".join(chosen), note=READING, title=title)


def score_panel(
    selection: Selection,
    style: Style,
    found: Sequence[rows.Row],
    order: Sequence[str],
    *,
    names: bool = True,
) -> Any:
    """One metric's bars, without title and look."""
    import altair as alt

    y = rows.band(style, order, names=names)
    offset = rows.mark_offset(style)
    top = max((row["ci_high"] or row["mean"] or 0 for row in found), default=0)
    domain: list[float] = [0, 1] if top > 0.3 else [0, max(0.05, top * 1.08)]
    axis = rows.spec(title=None, tickCount=4, format=".2~f")
    x = alt.X("mean:Q", scale=rows.spec(domain=domain, nice=False), axis=axis)
    thickness = rows.bar_size(style)
    layers = [
        rows.mark("bar", size=thickness, yOffset=offset).encode(
            y=y, x=x, color=rows.arm_colour(selection, style, found)
        ),
        rows.mark("rule", color=style.hex(INK), strokeWidth=1.4, yOffset=offset).encode(
            y=y, x=alt.X("ci_low:Q"), x2=alt.X2("ci_high:Q")
        ),
        rows.mark(
            "tick",
            color=style.hex(MUTED),
            thickness=1.6,
            size=thickness + 6,
            yOffset=offset,
            opacity=1,
        ).encode(y=y, x=alt.X("chance:Q")),
        *rows.words(style, y, [rows.TextColumn("value_text", 21)]),
    ]
    return rows.frame(style, layers, found, len(order))


def score_rows(selection: Selection, metrics: Sequence[str]) -> list[dict[str, Any]]:
    """Rows for score charts: one per run and metric, a run without a score included."""
    found = selection.marts.rows(
        """
        select run_id, metric, mean, ci_low, ci_high, chance, n_scored, n_tasks
        from fct_run_metrics
        where list_contains(?, run_id) and list_contains(?, metric)
        """,
        ids(selection.runs),
        list(metrics),
    )
    by_key = {(row["run_id"], row["metric"]): row for row in found}
    empty = dict.fromkeys(("mean", "ci_low", "ci_high", "chance"))
    rows_out = []
    for run in selection.runs:
        for metric in metrics:
            row = by_key.get((run.run_id, metric), {**empty, "n_scored": 0})
            rows_out.append(
                {
                    **{name: row[name] for name in (*empty, "n_scored")},
                    "metric": metric,
                    "label": selection.labels[run.run_id],
                    "legend": selection.legends[run.run_id],
                    "value_text": interval(row["mean"], row["ci_low"], row["ci_high"]),
                }
            )
    return rows_out


def order_by_score(selection: Selection, found: Sequence[rows.Row], metric: str) -> list[str]:
    """Labels from best to worst on one metric, those without a score last."""
    score = {row["label"]: row["mean"] for row in found if row["metric"] == metric}
    labels = [selection.labels[run.run_id] for run in selection.runs]
    return sorted(
        labels, key=lambda label: -1.0 if score.get(label) is None else score[label], reverse=True
    )


def headline(selection: Selection) -> list[str]:
    """The primary metric, then MRR and nDCG@10 where there are such."""
    usual = [name for name in ("mrr", "ndcg@10") if name in selection.metrics]
    return list(dict.fromkeys([selection.primary_metric, *usual]))
