"""Arms beside each other: methods over several metrics, two splits, and before against after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evalake_reports.charts import rows
from evalake_reports.charts.declared import declare
from evalake_reports.charts.labels import chance_text, difference
from evalake_reports.charts.palette import MUTED, PAPER
from evalake_reports.charts.scores import READING, order_by_score, score_panel, score_rows
from evalake_reports.charts.selection import Selection
from evalake_reports.charts.theme import DEFAULT, Style, finish
from evalake_reports.charts.variants import KINDS, Variant, find_variants
from evalake_warehouse.errors import UsageError

if TYPE_CHECKING:
    from evalake_reports.charts.theme import AnyChart

CHANGE_READING = "Hollow: without. Filled: with."
COMPARED = ("success@1", "success@5", "success@10", "recall@5", "recall@10", "mrr", "ndcg@10")


@declare("every arm on several metrics", group="scores")
def method_comparison(
    selection: Selection,
    *,
    metrics: Sequence[str] | None = None,
    title: str | None = None,
    style: Style = DEFAULT,
) -> AnyChart:
    """Every arm on several metrics: one row per metric, one point per arm with its interval.

    Raises:
        UsageError: a metric that no run here has, or no score at all.
    """
    import altair as alt

    usual = [name for name in COMPARED if name in selection.metrics]
    chosen = [selection.check_metric(m) for m in metrics] if metrics else usual
    found = [row for row in score_rows(selection, chosen) if row["mean"] is not None]
    if not found:
        raise UsageError("no run here has a score")
    order = order_by_score(selection, found, chosen[0])
    step = max(4.0, min(9.0, 130 / len(order)))
    height = step * len(order) + 16
    y = alt.Y(
        "metric:N",
        sort=list(chosen),
        axis=rows.spec(title=None, labelPadding=8),
        scale=rows.spec(padding=0),
    )
    shift = alt.YOffset("label:N", sort=order, scale=rows.spec(paddingOuter=1))
    x = alt.X("mean:Q", scale=rows.spec(domain=[0, 1]), axis=rows.spec(title=None, tickCount=5))
    colour, shape = rows.arm_looks(selection, style, found)
    layers = [
        rows.mark("rule", strokeWidth=1.4, opacity=0.75).encode(
            y=y, yOffset=shift, x=alt.X("ci_low:Q"), x2=alt.X2("ci_high:Q"), color=colour
        ),
        rows.mark("point", filled=True, size=34, opacity=1).encode(
            y=y, yOffset=shift, x=x, color=colour, shape=shape
        ),
        rows.mark("tick", color=style.hex(MUTED), thickness=1.4, size=height - 12).encode(
            y=y, x=alt.X("chance:Q")
        ),
    ]
    chart = alt.layer(*layers, data=rows.data(found)).properties(
        width=style.width, height=height * len(chosen)
    )
    note = "Point: mean. Line: 95 % interval. Tick: chance."
    return finish(chart, selection, style, what="Methods", note=note, title=title)


@declare("the same arms on two splits, a panel each", group="scores", across_splits=True)
def ab_splits(
    selections: Sequence[Selection],
    *,
    metric: str | None = None,
    title: str | None = None,
    style: Style = DEFAULT,
) -> AnyChart:
    """The same arms on two or more splits of one dataset, a panel each, in one order.

    Raises:
        UsageError: fewer than two splits, or selections of different datasets, each named.
    """
    import altair as alt

    places = sorted({f"{s.runs[0].dataset} {s.runs[0].edition[:8]}" for s in selections})
    if len(places) > 1:
        raise UsageError(f"splits of different datasets do not share a chart: {', '.join(places)}")
    splits = list(dict.fromkeys(s.runs[0].split for s in selections))
    if len(splits) < 2 or len(splits) != len(selections):
        raise UsageError(f"two splits are needed, there is {', '.join(splits) or 'none'}")
    first = selections[0]
    chosen = first.check_metric(metric) if metric else first.primary_metric
    narrow = style if style.compact else style.at_width(min(style.width, 280))
    tables = [score_rows(selection, [chosen]) for selection in selections]
    order = order_by_score(first, tables[0], chosen)
    order += [row["label"] for table in tables[1:] for row in table if row["label"] not in order]
    order = list(dict.fromkeys(order))
    panels = []
    for place, (selection, found) in enumerate(zip(selections, tables, strict=True)):
        panel = score_panel(selection, narrow, found, order, names=place == 0)
        heading = f"{selection.runs[0].split}, n = {selection.n_tasks} tasks"
        panels.append(rows.titled(panel, heading))
    joined = alt.vconcat(*panels) if style.compact else alt.hconcat(*panels)
    joined = joined.resolve_scale(color="independent")
    text = title or f"{chosen} on {' and '.join(splits)} · {first.runs[0].dataset}"
    return finish(joined, first, style, what=chosen, note=READING, title=text)


@declare(
    "structure of code, without and with it", group="changes", name="structure", kind="structure"
)
@declare("a re-ranker, without and with it", group="changes", name="reranker", kind="reranker")
@declare("fusion of branches, without and with it", group="changes", name="fusion", kind="fusion")
def before_after(
    selection: Selection,
    *,
    kind: str | None = None,
    pairs: Sequence[tuple[str, str]] = (),
    metric: str | None = None,
    title: str | None = None,
    style: Style = DEFAULT,
) -> AnyChart:
    """What one change of a configuration did: hollow before, filled after, a row per change.

    Args:
        kind: `fusion`, `reranker` or `structure`: changes found in the arms' configurations.
        pairs: (before, after) run ids instead.

    Raises:
        UsageError: there is no such pair of arms among these runs.
    """
    import altair as alt

    chosen = selection.check_metric(metric) if metric else selection.primary_metric
    variants = find_variants(selection.runs, kind, pairs)
    found = _variant_rows(selection, variants, chosen)
    if not found:
        what = KINDS[kind].title if kind else "before and after"
        raise UsageError(f"no two scored arms here differ by {what} alone")
    order = list(dict.fromkeys(row["change"] for row in found))
    y = rows.band(style, order, field="change")
    offset = rows.mark_offset(style)
    # Points, not bars: the axis shows where they are and need not start at 0.
    low = max(0.0, min(row["mean"] for row in found) - 0.06)
    high = min(1.0, max(row["mean"] for row in found) + 0.06)
    axis = rows.spec(title=None, tickCount=4, format=".2~f")
    x = alt.X("mean:Q", axis=axis, scale=rows.spec(domain=[low, high], zero=False, nice=False))
    colour = rows.arm_colour(selection, style, found)
    spans = _spans(found)
    layers = [
        rows.mark(
            "rule", data=rows.data(spans), color=style.hex(MUTED), strokeWidth=2, yOffset=offset
        ).encode(y=y, x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        rows.mark("point", size=78, strokeWidth=2, opacity=1, yOffset=offset).encode(
            y=y,
            x=x,
            stroke=colour,
            fill=alt.condition("datum.after", colour, alt.value(style.hex(PAPER))),
        ),
        *[
            layer.properties(data=rows.data(spans))
            for layer in rows.words(style, y, [rows.TextColumn("text", 24)], label_field="change")
        ],
    ]
    chart = rows.frame(style, layers, found, len(order))
    what = f"{KINDS[kind].name if kind else 'Before and after'}: {chosen}"
    return finish(
        chart,
        selection,
        style,
        what=what,
        note=f"{CHANGE_READING} {chance_text(selection.chance(chosen))}",
        title=title,
    )


def _variant_rows(
    selection: Selection, variants: Sequence[Variant], metric: str
) -> list[dict[str, Any]]:
    score = {
        row["label"]: row for row in score_rows(selection, [metric]) if row["mean"] is not None
    }
    found = []
    for variant in variants:
        after = score.get(selection.labels[variant.after.run_id])
        before = [
            score[label]
            for run in variant.before
            if (label := selection.labels[run.run_id]) in score
        ]
        if after is None or not before:
            continue
        change = after["label"]
        found += [{**row, "change": change, "after": False} for row in before]
        found.append({**after, "change": change, "after": True})
    return found


def _spans(found: Sequence[rows.Row]) -> list[dict[str, Any]]:
    spans = []
    for change in dict.fromkeys(row["change"] for row in found):
        part = [row for row in found if row["change"] == change]
        after = next(row["mean"] for row in part if row["after"])
        best = max(row["mean"] for row in part if not row["after"])
        means = [row["mean"] for row in part]
        text = f"{best:.3f} \u2192 {after:.3f}  ({difference(after - best, None, None)})"
        spans.append({"change": change, "low": min(means), "high": max(means), "text": text})
    return spans
