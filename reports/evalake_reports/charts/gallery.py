"""All charts by name: what `evalake charts` draws, and the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import evalake_reports.charts as package
from evalake_reports.charts.declared import Chart, Options, declared_charts
from evalake_reports.charts.latency import PERCENTILES, latency_rows, measured_phases
from evalake_reports.charts.selection import Selection
from evalake_warehouse.errors import UsageError

# A module of this package that declares a chart is found here; nothing else names it.
for _module in iter_modules(package.__path__):
    import_module(f"{package.__name__}.{_module.name}")

CHARTS: Mapping[str, Chart] = {chart.name: chart for chart in declared_charts()}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart, or the reason why there is none."""

    name: str
    chart: Any | None
    reason: str = ""


def draw(selection: Selection, options: Options, names: Sequence[str] = ()) -> Iterator[Drawn]:
    """Draw the charts named, or all; one that the marts hold nothing for is skipped with a reason.

    Raises:
        UsageError: an unknown name or option, or a chart asked for by name that cannot be drawn.
    """
    check_names(names)
    _check_options(selection, options)
    for name in names or CHARTS:
        if not CHARTS[name].across_splits:
            yield _attempt(name, partial(CHARTS[name], selection, options), bool(names))


def draw_across(
    selections: Sequence[Selection], options: Options, names: Sequence[str] = ()
) -> Iterator[Drawn]:
    """Draw the charts over the splits of each dataset, where they are named or it has two."""
    datasets: dict[tuple[str, str], list[Selection]] = {}
    for selection in selections:
        first = selection.runs[0]
        datasets.setdefault((first.dataset, first.edition), []).append(selection)
    for chart in CHARTS.values():
        wanted = chart.name in names
        for (dataset, _), group in datasets.items():
            if chart.across_splits and (wanted or (not names and len(group) > 1)):
                name = chart.name if len(datasets) == 1 else f"{chart.name}_{dataset}"
                yield _attempt(name, partial(chart, group, options), wanted)


def check_names(names: Sequence[str]) -> None:
    """Refuse chart names that do not exist.

    Raises:
        UsageError: the first unknown one.
    """
    for name in names:
        if name not in CHARTS:
            raise UsageError(f"no chart {name!r}; there are: {', '.join(CHARTS)}", where="--chart")


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
