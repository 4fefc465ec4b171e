"""Altair charts over the marts: one function per chart, each returning the Altair object.

from evalake_reports import charts

with charts.open_marts() as marts:
    selection = charts.select(marts, family="demo")
    charts.score_bars(selection, metrics=["recall@5", "mrr"])
"""

from __future__ import annotations

from evalake_reports.charts.breakdown import breakout_heatmap, gold_ranks
from evalake_reports.charts.choose import panels, select
from evalake_reports.charts.comparisons import ab_splits, before_after, method_comparison
from evalake_reports.charts.difference_charts import forest, wins_and_losses
from evalake_reports.charts.latency import latency_bars, quality_against_cost
from evalake_reports.charts.marts import Marts, open_marts
from evalake_reports.charts.save import save
from evalake_reports.charts.scores import score_bars
from evalake_reports.charts.selection import Selection
from evalake_reports.charts.theme import Style
from evalake_reports.charts.timeline import arm_over_time
from evalake_warehouse.questions.runs import Run

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
