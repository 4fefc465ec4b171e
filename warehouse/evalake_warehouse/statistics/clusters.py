"""Intervals that let whole strata vary: tasks of one repository or library are alike."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalake_warehouse.statistics.bootstrap import resampled_stratum_means
from evalake_warehouse.statistics.quantiles import outer_order_statistics, student_t_quantile
from evalake_warehouse.statistics.series import SCORE_UNIT, Block

T_BELOW = 20  # with fewer strata the bootstrap is too narrow, and t with G - 1 df is used

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClusterIntervals:
    """Per series; NaN where there are fewer than two strata."""

    low: Vector
    high: Vector
    n_clusters: NDArray[np.int64]
    design_effect: (
        Vector  # variance of the mean with strata, over that of as many independent tasks
    )


@dataclass(frozen=True, slots=True)
class RatioMean:
    """A mean over unequal strata, in points of the score."""

    mean: float
    standard_error: float
    design_effect: float


def cluster_intervals(
    block: Block, *, confidence: float, resamples: int, seed: int, lowest: float
) -> ClusterIntervals:
    """Cluster interval of each series of a block, from the tasks' strata.

    From 20 strata on: percentile bootstrap over strata. Below: mean +- t(G - 1) standard errors
    of the ratio mean, cut at `lowest` and 1, which a mean of scores cannot pass.
    """
    nothing = np.full(len(block.rows), np.nan)
    if not np.any(block.strata >= 0):
        none = np.zeros(len(block.rows), dtype=np.int64)
        return ClusterIntervals(nothing, nothing, none, nothing)

    strata, member = np.unique(block.strata, return_inverse=True)
    indicator = np.zeros((len(member), len(strata)))
    indicator[np.arange(len(member)), member] = 1
    totals = block.scores @ indicator
    present = np.ones_like(block.scores) if block.present is None else block.present
    sizes = present @ indicator
    n_clusters = np.count_nonzero(sizes, axis=1)
    squares = np.sum(np.square(block.scores.astype(np.int64)), axis=1)

    low, high, effect = nothing.copy(), nothing.copy(), nothing.copy()
    for row in np.flatnonzero(n_clusters >= 2):
        held = sizes[row] > 0
        found = ratio_mean(totals[row, held], sizes[row, held], int(squares[row]))
        effect[row] = found.design_effect
        if n_clusters[row] < T_BELOW:
            t = student_t_quantile((1 + confidence) / 2, int(n_clusters[row]) - 1)
            low[row] = max(lowest, found.mean - t * found.standard_error)
            high[row] = min(1.0, found.mean + t * found.standard_error)
    many = np.flatnonzero(n_clusters >= T_BELOW)
    means = resampled_stratum_means(
        totals[many], sizes[many], strata, resamples=resamples, seed=seed
    )
    low[many], high[many] = outer_order_statistics(means, confidence=confidence)
    return ClusterIntervals(low, high, n_clusters, effect)


def ratio_mean(totals: Vector, sizes: Vector, squares: int) -> RatioMean:
    """Mean, its linearised standard error and the design effect.

    Whole-number arithmetic up to the last division, so the bits depend on no machine.

    Args:
        totals: shape (n_strata,), summed scores per stratum in millionths.
        sizes: shape (n_strata,), tasks per stratum.
        squares: sum of the squared scores of all tasks, in millionths squared.

    Source:
        Cochran, Sampling Techniques (1977), 6.13; design effect: Kish, Survey Sampling (1965).
    """
    per_stratum = [(int(total), int(size)) for total, size in zip(totals, sizes, strict=True)]
    total = sum(one for one, _ in per_stratum)
    n = sum(size for _, size in per_stratum)
    groups = len(per_stratum)
    residuals = sum((one * n - total * size) ** 2 for one, size in per_stratum)
    variance = groups * residuals / ((groups - 1) * n**4)
    independent = (n * squares - total**2) / (n**2 * (n - 1)) if n > 1 else 0.0
    return RatioMean(
        mean=total / (n * SCORE_UNIT),
        standard_error=math.sqrt(variance) / SCORE_UNIT,
        design_effect=variance / independent if independent else math.nan,
    )
