"""Percentile bootstrap of means, over tasks and over strata."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evalake_warehouse.statistics.mixer import poisson_weights
from evalake_warehouse.statistics.series import SCORE_UNIT, Block

_CHUNK = 2_048

Matrix = NDArray[np.float64]


def resampled_means(block: Block, *, resamples: int, seed: int) -> Matrix:
    """Mean of every series in every resample of the tasks.

    Returns:
        shape (n_series, resamples); NaN in a resample that drew none of a series' tasks.
    """
    present = np.ones((1, len(block.task_seeds))) if block.present is None else block.present
    return _ratios(block.scores, present, block.task_seeds, resamples=resamples, seed=seed)


def resampled_stratum_means(
    totals: Matrix, sizes: Matrix, stratum_seeds: NDArray[np.int64], *, resamples: int, seed: int
) -> Matrix:
    """Mean of every series in every resample of whole strata.

    A ratio of sums, since strata differ in size.

    Args:
        totals: shape (n_series, n_strata), summed scores of a series in a stratum.
        sizes: the same shape (or one row for all series), tasks of the series in the stratum.

    Returns:
        shape (n_series, resamples).

    Source:
        Cochran, Sampling Techniques (1977), section 6: the ratio estimator.
    """
    return _ratios(totals, sizes, stratum_seeds, resamples=resamples, seed=seed)


def _ratios(
    totals: Matrix, sizes: Matrix, seeds: NDArray[np.int64], *, resamples: int, seed: int
) -> Matrix:
    # Whole numbers below 2**53 throughout, so neither the order of a sum nor the number of
    # threads can change a bit; the one division rounds the same way everywhere.
    sums = np.zeros((len(totals), resamples))
    counts = np.zeros((len(sizes), resamples))
    for start in range(0, len(seeds), _CHUNK):
        columns = slice(start, start + _CHUNK)
        weights = poisson_weights(seeds[columns], resamples=resamples, seed=seed)
        sums += totals[:, columns] @ weights
        counts += sizes[:, columns] @ weights
    counts = np.where(counts > 0, counts, np.nan)
    means: Matrix = sums / (counts * SCORE_UNIT)
    return means
