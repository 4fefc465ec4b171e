"""Every interval of many series at once. The only statistics that are not SQL."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalake_warehouse.statistics.bootstrap import resampled_means
from evalake_warehouse.statistics.clusters import cluster_intervals
from evalake_warehouse.statistics.quantiles import outer_order_statistics
from evalake_warehouse.statistics.series import Series, blocks
from evalake_warehouse.statistics.sign_flip import sign_flip_p

Vector = NDArray[np.float64]

# Raised with any change of what the numbers mean, here and in models/intermediate/int_intervals.py:
# that file is among those whose change has every run judged again.
STATISTICS_RULES = "1"


@dataclass(frozen=True, slots=True)
class Settings:
    """How intervals are made; the dbt vars of the same names."""

    confidence: float = 0.95
    resamples: int = 1_000
    bootstrap_seed: int = 0
    sign_flips: int = 9_999


@dataclass(frozen=True, slots=True)
class Intervals:
    """Arrays with one entry per series, in score points; NaN where a value is undefined.

    An interval needs two tasks: one task says nothing about how much tasks vary.
    """

    ci_low: Vector
    ci_high: Vector
    cluster_low: Vector
    cluster_high: Vector
    n_clusters: NDArray[np.int64]
    design_effect: Vector
    sign_flip_p: Vector


def compute_intervals(
    series: Series, settings: Settings, *, paired: bool, clustered: bool
) -> Intervals:
    """Bootstrap and cluster intervals, and for differences the sign-flip test.

    Args:
        series: task scores, or with `paired` differences of task scores.
        paired: the scores are differences in [-1, 1]; test them against 0.
        clustered: also make intervals over strata.
    """
    result = _undefined(len(series))
    resampling = {"resamples": settings.resamples, "seed": settings.bootstrap_seed}
    for block in blocks(series):
        rows = block.rows
        means = resampled_means(block, **resampling)
        means[series.sizes[rows] < 2] = np.nan
        result.ci_low[rows], result.ci_high[rows] = outer_order_statistics(
            means, confidence=settings.confidence
        )
        if clustered:
            found = cluster_intervals(
                block, confidence=settings.confidence, lowest=-1.0 if paired else 0.0, **resampling
            )
            result.cluster_low[rows], result.cluster_high[rows] = found.low, found.high
            result.n_clusters[rows] = found.n_clusters
            result.design_effect[rows] = found.design_effect
        if paired:
            result.sign_flip_p[rows] = sign_flip_p(
                series, block, draws=settings.sign_flips, seed=settings.bootstrap_seed
            )
    return result


def _undefined(n_series: int) -> Intervals:
    return Intervals(
        ci_low=np.full(n_series, np.nan),
        ci_high=np.full(n_series, np.nan),
        cluster_low=np.full(n_series, np.nan),
        cluster_high=np.full(n_series, np.nan),
        n_clusters=np.zeros(n_series, dtype=np.int64),
        design_effect=np.full(n_series, np.nan),
        sign_flip_p=np.full(n_series, np.nan),
    )
