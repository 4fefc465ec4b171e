"""All charts by name: what `evalake charts` draws, and the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalake_warehouse.charts.paired import forest
from evalake_warehouse.charts.scores import score_bars
from evalake_warehouse.charts.selection import Selection
from evalake_warehouse.charts.theme import DEFAULT, Style
from evalake_warehouse.errors import UsageError


@dataclass(frozen=True, slots=True)
class Options:
    """What a caller may choose; each chart takes what concerns it."""

    metrics: Sequence[str] = ()
    title: str | None = None
    phase: str = "search"
    percentile: str = "p50"
    style: Style = DEFAULT

    @property
    def metric(self) -> str | None:
        """The first metric asked for."""
        return self.metrics[0] if self.metrics else None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart, or the reason why there is none."""

    name: str
    chart: Any | None
    reason: str = ""


Draw = Callable[[Selection, Options], Any]

CHARTS: Mapping[str, Draw] = {
    "score_bars": lambda s, o: score_bars(s, metrics=o.metrics, title=o.title, style=o.style),
    "forest": lambda s, o: forest(s, metric=o.metric, title=o.title, style=o.style),
}


def draw(selection: Selection, options: Options, names: Sequence[str] = ()) -> Iterator[Drawn]:
    """Draw the charts named, or all; one that the marts hold nothing for is skipped with a reason.

    Raises:
        UsageError: an unknown name, or a chart asked for by name that cannot be drawn.
    """
    for name in names or CHARTS:
        if name not in CHARTS:
            raise UsageError(f"no chart {name!r}; there are: {', '.join(CHARTS)}", where="--chart")
        try:
            yield Drawn(name, CHARTS[name](selection, options))
        except UsageError as error:
            if names:
                raise
            yield Drawn(name, None, str(error))
