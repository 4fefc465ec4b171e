"""Altair charts over the marts: one function per chart, each returning the Altair object.

from evalake_warehouse import charts

with charts.open_marts() as marts:
    selection = charts.select(marts, family="demo")
    charts.score_bars(selection, metrics=["recall@5", "mrr"])
"""

from __future__ import annotations

from evalake_warehouse.charts.breakdown import breakout_heatmap, gold_ranks
from evalake_warehouse.charts.choose import panels, select
from evalake_warehouse.charts.comparisons import ab_splits, before_after, method_comparison
from evalake_warehouse.charts.latency import latency_bars, quality_against_cost
from evalake_warehouse.charts.marts import Marts, Run, open_marts
from evalake_warehouse.charts.paired import forest, wins_and_losses
from evalake_warehouse.charts.save import save
from evalake_warehouse.charts.scores import score_bars
from evalake_warehouse.charts.selection import Selection
from evalake_warehouse.charts.theme import Style
from evalake_warehouse.charts.timeline import arm_over_time

__all__ = [
    "Marts",
    "Run",
    "Selection",
    "Style",
    "ab_splits",
    "arm_over_time",
    "before_after",
    "breakout_heatmap",
    "forest",
    "gold_ranks",
    "latency_bars",
    "method_comparison",
    "open_marts",
    "panels",
    "quality_against_cost",
    "save",
    "score_bars",
    "select",
    "wins_and_losses",
]
