"""A chart is declared once, above the function that draws it.

The gallery, `evalake charts`, the report, the names that a notebook imports and the table in
docs/charts.md all take it from there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from evalake_reports.charts.selection import Selection
from evalake_reports.charts.theme import DEFAULT, Style

# The questions that charts answer, in the order in which charts are listed and drawn.
GROUPS = ("scores", "differences", "changes", "tasks", "time")

_Parameters = ParamSpec("_Parameters")
_Drawn = TypeVar("_Drawn")


@dataclass(frozen=True, slots=True)
class Options:
    """What a caller may choose; each chart takes what its function has a parameter for."""

    metrics: Sequence[str] = ()
    title: str | None = None
    phase: str = "search"
    percentile: str = "p50"
    dimension: str = "qa_type"
    style: Style = DEFAULT

    def named(self) -> dict[str, Any]:
        """Every choice by the name of the parameter that takes it."""
        return {
            "metric": self.metrics[0] if self.metrics else None,
            "metrics": self.metrics or None,
            "title": self.title,
            "phase": self.phase,
            "phases": tuple(dict.fromkeys((self.phase, "index"))),
            "percentile": self.percentile,
            "dimension": self.dimension,
            "style": self.style,
        }


@dataclass(frozen=True, slots=True)
class Chart:
    """A declared chart, to be called with what it draws."""

    name: str  # of its file, and after `--chart`
    group: str
    shows: str  # in one line
    function: Callable[..., Any]
    fixed: dict[str, Any] = field(default_factory=dict)  # arguments that no option changes
    across_splits: bool = False  # takes the selections of one dataset's splits, not one selection

    def __call__(self, selected: Selection | Sequence[Selection], options: Options) -> Any:
        """The Altair chart.

        Raises:
            UsageError: the marts hold nothing for it, with the reason.
        """
        taken = inspect.signature(self.function).parameters.keys()
        chosen = {name: value for name, value in options.named().items() if name in taken}
        return self.function(selected, **(chosen | self.fixed))


_DECLARED: list[Chart] = []


def declare(
    shows: str, *, group: str, name: str | None = None, across_splits: bool = False, **fixed: Any
) -> Callable[[Callable[_Parameters, _Drawn]], Callable[_Parameters, _Drawn]]:
    """Declare the function below as a chart; several times for charts that differ in an argument.

    Args:
        shows: what the chart shows, in one line.
        group: one of `GROUPS`.
        name: of the chart, if it is not the function's.
        across_splits: the function takes the selections of one dataset's splits.
        fixed: arguments of this chart that no option changes.
    """

    def declared(function: Callable[_Parameters, _Drawn]) -> Callable[_Parameters, _Drawn]:
        chart = Chart(name or function.__name__, group, shows, function, fixed, across_splits)
        _DECLARED.append(chart)
        return function

    return declared


def declared_charts() -> list[Chart]:
    """Every chart of the modules imported so far, by group."""
    return sorted(_DECLARED, key=lambda chart: GROUPS.index(chart.group))
