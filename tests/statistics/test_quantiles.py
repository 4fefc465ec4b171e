"""Quantiles against scipy and numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evalake_warehouse.statistics.quantiles import (
    outer_order_statistics,
    student_t_cdf,
    student_t_quantile,
)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 9, 10, 18, 19])
@pytest.mark.parametrize("probability", [0.6, 0.9, 0.95, 0.975, 0.995])
def test_t_quantiles_agree_with_scipy(degrees: int, probability: float) -> None:
    expected = stats.t.ppf(probability, degrees)
    assert student_t_quantile(probability, degrees) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("degrees", [1, 2, 7, 12])
def test_the_t_distribution_agrees_with_scipy(degrees: int) -> None:
    for value in (0.0, 0.3, 1.0, 4.0):
        assert student_t_cdf(value, degrees) == pytest.approx(
            stats.t.cdf(value, degrees), abs=1e-12
        )


def test_endpoints_are_the_25th_smallest_and_largest_of_a_thousand() -> None:
    values = np.random.default_rng(3).permutation(np.arange(1.0, 1_001))
    low, high = outer_order_statistics(values[None, :], confidence=0.95)
    assert (low[0], high[0]) == (25, 976)


@pytest.mark.parametrize(
    ("n", "confidence", "k"),
    [
        (1_000, 0.95, 25),  # 0.025 of 1,001
        (999, 0.95, 25),  # exactly: 0.025 of 1,000, where 0.025 of n itself is 24.975
        (998, 0.95, 24),
        (39, 0.95, 1),
        (79, 0.95, 2),
        (78, 0.95, 1),
        (19, 0.9, 1),
        (39, 0.9, 2),
        (5, 0.95, 1),  # never under 1
    ],
)
def test_an_endpoint_is_the_kth_of_n_where_k_is_the_tail_of_n_and_one(
    n: int, confidence: float, k: int
) -> None:
    values = np.random.default_rng(n).permutation(np.arange(1.0, n + 1))
    low, high = outer_order_statistics(values[None, :], confidence=confidence)
    assert (low[0], high[0]) == (k, n + 1 - k)


def test_endpoints_mirror_when_signs_are_swapped() -> None:
    values = np.random.default_rng(4).normal(size=(5, 1_000))
    low, high = outer_order_statistics(values, confidence=0.9)
    mirrored_low, mirrored_high = outer_order_statistics(-values, confidence=0.9)
    assert (low == -mirrored_high).all()
    assert (high == -mirrored_low).all()


def test_missing_values_are_left_out_and_nothing_but_missing_gives_nothing() -> None:
    values = np.array([[np.nan, 1, 2, 3], [np.nan] * 4])
    low, high = outer_order_statistics(values, confidence=0.95)
    assert (low[0], high[0]) == (1, 3)
    assert np.isnan(low[1])
    assert np.isnan(high[1])
