"""Altair charts over the marts: one function per chart, each returning the Altair object.

from evalake_reports import charts

with charts.open_marts() as marts:
    selection = charts.select(marts, family="demo")
    charts.score_bars(selection, metrics=["recall@5", "mrr"])
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from evalake_reports.charts.choose import panels, select
from evalake_reports.charts.marts import Marts, open_marts
from evalake_reports.charts.save import save
from evalake_reports.charts.selection import Selection
from evalake_reports.charts.theme import Style
from evalake_warehouse.questions.runs import Run

__all__ = ["Marts", "Run", "Selection", "Style", "open_marts", "panels", "save", "select"]


def __getattr__(name: str) -> Callable[..., Any]:
    """The function of a declared chart."""
    # The import system asks for a module of this package here first, which is no chart.
    if not name.startswith("_") and find_spec(f"{__name__}.{name}") is None:
        from evalake_reports.charts.gallery import CHARTS

        for chart in CHARTS.values():
            if chart.function.__name__ == name:
                return chart.function
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """For completion in a notebook: what is imported above, and the functions of all charts."""
    from evalake_reports.charts.gallery import CHARTS

    return sorted({*__all__, *(chart.function.__name__ for chart in CHARTS.values())})
