"""All charts by name: what `evalake charts` draws, and the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from evalake_reports.charts.breakdown import breakout_heatmap, gold_ranks
from evalake_reports.charts.comparisons import ab_splits, before_after, method_comparison
from evalake_reports.charts.difference_charts import forest, wins_and_losses
from evalake_reports.charts.latency import (
    PERCENTILES,
    latency_bars,
    latency_rows,
    measured_phases,
    quality_against_cost,
)
from evalake_reports.charts.scores import score_bars
from evalake_reports.charts.selection import Selection
from evalake_reports.charts.theme import DEFAULT, Style
from evalake_reports.charts.timeline import arm_over_time
from evalake_warehouse.errors import UsageError


@dataclass(frozen=True, slots=True)
class Options:
    """What a caller may choose; each chart takes what concerns it."""

    metrics: Sequence[str] = ()
    title: str | None = None
    phase: str = "search"
    percentile: str = "p50"
    dimension: str = "qa_type"
    style: Style = DEFAULT

    def common(self) -> dict[str, Any]:
        """Arguments of every chart of one metric."""
        metric = self.metrics[0] if self.metrics else None
        return {"metric": metric, "title": self.title, "style": self.style}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart, or the reason why there is none."""

    name: str
    chart: Any | None
    reason: str = ""


Draw = Callable[[Selection, Options], Any]

CHARTS: Mapping[str, Draw] = {
    "score_bars": lambda s, o: score_bars(
        s, metrics=o.metrics or None, title=o.title, style=o.style
    ),
    "forest": lambda s, o: forest(s, **o.common()),
    "wins_and_losses": lambda s, o: wins_and_losses(s, **o.common()),
    "method_comparison": lambda s, o: method_comparison(
        s, metrics=o.metrics or None, title=o.title, style=o.style
    ),
    "fusion": lambda s, o: before_after(s, kind="fusion", **o.common()),
    "reranker": lambda s, o: before_after(s, kind="reranker", **o.common()),
    "structure": lambda s, o: before_after(s, kind="structure", **o.common()),
    "breakout_heatmap": lambda s, o: breakout_heatmap(s, dimension=o.dimension, **o.common()),
    "gold_ranks": lambda s, o: gold_ranks(s, title=o.title, style=o.style),
    "latency_bars": lambda s, o: latency_bars(
        s, phases=tuple(dict.fromkeys((o.phase, "index"))), title=o.title, style=o.style
    ),
    "quality_against_latency": lambda s, o: quality_against_cost(
        s, phase=o.phase, percentile=o.percentile, **o.common()
    ),
    "quality_against_index_time": lambda s, o: quality_against_cost(
        s, phase="index", percentile=o.percentile, **o.common()
    ),
    "arm_over_time": lambda s, o: arm_over_time(s, **o.common()),
}
ACROSS_SPLITS = "ab_splits"
NAMES = (*CHARTS, ACROSS_SPLITS)


def draw(selection: Selection, options: Options, names: Sequence[str] = ()) -> Iterator[Drawn]:
    """Draw the charts named, or all; one that the marts hold nothing for is skipped with a reason.

    Raises:
        UsageError: an unknown name or option, or a chart asked for by name that cannot be drawn.
    """
    check_names(names)
    _check_options(selection, options)
    for name in names or CHARTS:
        if name in CHARTS:
            yield _attempt(name, partial(CHARTS[name], selection, options), bool(names))


def draw_across(
    selections: Sequence[Selection], options: Options, names: Sequence[str] = ()
) -> Iterator[Drawn]:
    """Draw the chart over the splits of each dataset that has at least two."""
    datasets: dict[tuple[str, str], list[Selection]] = {}
    for selection in selections:
        first = selection.runs[0]
        datasets.setdefault((first.dataset, first.edition), []).append(selection)
    wanted = ACROSS_SPLITS in names
    for (dataset, _), group in datasets.items():
        if wanted or (not names and len(group) > 1):
            name = ACROSS_SPLITS if len(datasets) == 1 else f"{ACROSS_SPLITS}_{dataset}"
            yield _attempt(name, partial(ab_splits, group, **options.common()), wanted)


def check_names(names: Sequence[str]) -> None:
    """Refuse chart names that do not exist.

    Raises:
        UsageError: the first unknown one.
    """
    for name in names:
        if name not in NAMES:
            raise UsageError(f"no chart {name!r}; there are: {', '.join(NAMES)}", where="--chart")


def _check_options(selection: Selection, options: Options) -> None:
    """Refuse what no chart could use, which else would look like a lack of data."""
    for metric in options.metrics:
        selection.check_metric(metric)
    if options.percentile not in PERCENTILES:
        raise UsageError(
            f"no percentile {options.percentile!r}; there are: {', '.join(PERCENTILES)}",
            where="--percentile",
        )
    if options.phase != Options().phase and not latency_rows(selection, options.phase):
        raise UsageError(
            f"no time was measured for {options.phase!r}; there are: "
            f"{', '.join(measured_phases(selection)) or 'none'}",
            where="--latency-metric",
        )


def _attempt(name: str, make: Callable[[], Any], must: bool) -> Drawn:
    from altair.utils.schemapi import debug_mode

    try:
        # Checking every part against the schema costs half the time, and tests do it.
        with debug_mode(False):
            return Drawn(name, make())
    except UsageError as error:
        if must:
            raise
        return Drawn(name, None, str(error))
