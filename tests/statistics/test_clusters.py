"""Cluster intervals: by hand, against scipy, and for what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statistics_helpers import series_of

from evalake_warehouse.statistics.clusters import ratio_mean
from evalake_warehouse.statistics.intervals import Intervals, Settings, compute_intervals


def clustered(rows: list[list[float | None]], strata: list[int], paired: bool = False) -> Intervals:
    return compute_intervals(series_of(rows, strata), Settings(), paired=paired, clustered=True)


def test_a_hand_worked_ratio_mean() -> None:
    # Strata (1, 0), (1, 1, 1), (0): mean 4/6. Residuals total - mean * size: -1/3, 1, -2/3.
    # Variance 3/2 * (1/9 + 1 + 4/9) / 36 = 7/108.
    found = ratio_mean(np.array([1e6, 3e6, 0]), np.array([2.0, 3, 1]), squares=4 * 10**12)
    assert found.mean == pytest.approx(4 / 6)
    assert found.standard_error == pytest.approx(math.sqrt(7 / 108))
    # Independent tasks: s^2 / n = (4 - 16/6) / 5 / 6 = 2/45; 7/108 over 2/45 = 35/24.
    assert found.design_effect == pytest.approx(35 / 24)


def test_equal_strata_give_the_t_interval_of_the_stratum_means() -> None:
    rng = np.random.default_rng(3)
    scores = rng.random((8, 5)) * 0.5 + 0.25
    strata = list(np.repeat(np.arange(8), 5))
    found = clustered([list(scores.ravel())], strata)
    means = np.round(scores, 6).mean(axis=1)
    low, high = stats.t.interval(0.95, 7, loc=means.mean(), scale=stats.sem(means))
    assert found.cluster_low[0] == pytest.approx(low, abs=1e-9)
    assert found.cluster_high[0] == pytest.approx(high, abs=1e-9)
    assert found.n_clusters[0] == 8


def test_from_twenty_strata_on_strata_are_resampled() -> None:
    rng = np.random.default_rng(4)
    means = rng.random(30)
    scores = np.repeat(means, 4)
    strata = list(np.repeat(np.arange(30), 4))
    found = clustered([list(scores)], strata)
    reference = stats.bootstrap(
        (means,), np.mean, method="percentile", n_resamples=9_999, rng=np.random.default_rng(1)
    ).confidence_interval
    # 1,000 draws: an endpoint's Monte Carlo error is about 0.004 here.
    assert found.cluster_low[0] == pytest.approx(reference.low, abs=0.015)
    assert found.cluster_high[0] == pytest.approx(reference.high, abs=0.015)
    # Tasks within a stratum are copies: four times the variance of independent ones, nearly.
    assert found.design_effect[0] == pytest.approx(4 * 119 / 116, rel=0.01)


@pytest.mark.parametrize(("groups", "is_t"), [(19, True), (20, False)])
def test_t_is_used_below_twenty_strata(groups: int, is_t: bool) -> None:
    scores = np.random.default_rng(5).random(groups * 2) ** 3
    found = clustered([list(scores)], list(np.repeat(np.arange(groups), 2)))
    mean = np.round(scores, 6).mean()
    reach = (found.cluster_high[0] - mean, mean - found.cluster_low[0])
    # Only a t interval has the mean in its middle.
    assert bool(abs(reach[0] - reach[1]) < 1e-9) == is_t


def test_one_stratum_or_none_has_no_interval() -> None:
    scores = [0.1, 0.5, 0.9, 0.3]
    one = clustered([scores], [7] * 4)
    assert math.isnan(one.cluster_low[0])
    assert one.n_clusters[0] == 1
    none = clustered([scores], [-1] * 4)
    assert math.isnan(none.cluster_high[0])
    assert none.n_clusters[0] == 0


def test_a_series_that_lacks_a_stratum_does_not_count_it() -> None:
    found = clustered([[0.1, 0.2, 0.3, None], [0.1, 0.2, 0.3, 0.9]], [0, 0, 1, 2])
    assert found.n_clusters.tolist() == [2, 3]


def test_an_interval_never_leaves_what_a_score_or_a_difference_can_be() -> None:
    scores = clustered([[0.0, 0, 0, 0, 1, 1]], [0, 0, 1, 1, 2, 2])
    assert (scores.cluster_low[0], scores.cluster_high[0]) == (0, 1)
    differences = clustered([[0.0, 0, 0, 0, 1, 1]], [0, 0, 1, 1, 2, 2], paired=True)
    assert differences.cluster_low[0] == -1
