"""Altair charts over the marts: one function per chart, each returning the Altair object.

from evalake_warehouse import charts

with charts.open_marts() as marts:
    selection = charts.select(marts, family="demo")
    charts.score_bars(selection, metrics=["recall@5", "mrr"])
"""

from __future__ import annotations

from evalake_warehouse.charts.marts import Marts, Run, open_marts
from evalake_warehouse.charts.paired import forest
from evalake_warehouse.charts.save import save
from evalake_warehouse.charts.scores import score_bars
from evalake_warehouse.charts.selection import Selection, panels, select
from evalake_warehouse.charts.theme import Style

__all__ = [
    "Marts",
    "Run",
    "Selection",
    "Style",
    "forest",
    "open_marts",
    "panels",
    "save",
    "score_bars",
    "select",
]
