"""Quantiles of Student's t and of a sample, without scipy."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


@lru_cache(maxsize=256)
def student_t_quantile(probability: float, degrees: int) -> float:
    """The t value that a t variable with `degrees` degrees of freedom stays below.

    Args:
        probability: in (0.5, 1).
        degrees: at least 1.
    """
    low, high = 0.0, 1.0
    while student_t_cdf(high, degrees) < probability:
        low, high = high, high * 2
    for _ in range(80):
        middle = (low + high) / 2
        if student_t_cdf(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def student_t_cdf(value: float, degrees: int) -> float:
    """P(T <= value) for whole degrees of freedom, by the finite trigonometric series.

    Source:
        Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    angle = math.atan(value / math.sqrt(degrees))
    cosine, sine = math.cos(angle), math.sin(angle)
    if degrees % 2:
        term, total = cosine, 0.0
        for step in range(1, degrees - 1, 2):
            total += term
            term *= cosine * cosine * (step + 1) / (step + 2)
        central = 2 / math.pi * (angle + sine * total)
    else:
        term, total = 1.0, 0.0
        for step in range(0, degrees - 1, 2):
            total += term
            term *= cosine * cosine * (step + 1) / (step + 2)
        central = sine * total
    return (1 + central) / 2


def outer_order_statistics(
    samples: NDArray[np.float64], *, confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The k-th smallest and the k-th largest value of each row, k = (1 - confidence) / 2 of n + 1.

    Discrete, so that an endpoint is one of the values and has the same bits everywhere, and
    symmetric, so that swapping baseline and candidate mirrors the interval exactly.

    Args:
        samples: shape (n_series, n); NaN is left out and lowers that row's n.

    Returns:
        low and high, shape (n_series,); NaN where a row has nothing but NaN.
    """
    counts = np.count_nonzero(~np.isnan(samples), axis=1)
    ranks = order_rank(counts, confidence=confidence)
    low = np.full(len(samples), np.nan)
    high = np.full(len(samples), np.nan)
    for count in np.unique(counts):
        rows = np.flatnonzero(counts == count)
        if count == 0:
            continue
        rank = int(ranks[rows[0]])
        # NaN sorts last, so the k-th largest of `count` values is at place count - k.
        parted = np.partition(samples[rows], (rank - 1, count - rank), axis=1)
        low[rows], high[rows] = parted[:, rank - 1], parted[:, count - rank]
    return low, high


def order_rank(counts: NDArray[np.int64], *, confidence: float) -> NDArray[np.int64]:
    """k of the k-th smallest and largest value, at least 1."""
    # The tail share is rounded, since (1 - 0.95) / 2 is not 0.025 in binary.
    tail = round((1 - confidence) / 2, 12)
    ranks: NDArray[np.int64] = np.floor(tail * (counts + 1) + 1e-9).astype(np.int64)
    return np.maximum(1, ranks)
