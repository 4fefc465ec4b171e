"""The sign-flip test against scipy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statistics_helpers import series_of

from evalake_warehouse.statistics.intervals import Settings, compute_intervals
from evalake_warehouse.statistics.sign_flip import exact_sign_flip_p


def p_of(rows: list[list[float | None]], sign_flips: int = 9_999) -> np.ndarray:
    settings = Settings(sign_flips=sign_flips)
    return compute_intervals(series_of(rows), settings, paired=True, clustered=False).sign_flip_p


def test_three_equal_gains_are_one_pattern_in_four() -> None:
    assert p_of([[0.2, 0.2, 0.2, 0.0, 0.0]])[0] == 2 / 8


def test_nothing_differs_gives_1() -> None:
    assert p_of([[0.0] * 30])[0] == 1
    assert exact_sign_flip_p(np.array([], dtype=np.int64)) == 1


def test_one_pair_gives_1() -> None:
    assert p_of([[0.7]])[0] == 1


def test_the_exact_test_agrees_with_scipy() -> None:
    rng = np.random.default_rng(9)
    for _ in range(5):
        differences = np.round(rng.normal(0.1, 0.3, 11).clip(-1, 1), 6)
        theirs = stats.permutation_test(
            (differences,), np.sum, permutation_type="samples", n_resamples=np.inf
        ).pvalue
        assert p_of([list(differences)])[0] == pytest.approx(theirs, abs=1e-12)


def test_the_sampled_test_comes_near_the_exact_one() -> None:
    rng = np.random.default_rng(10)
    # Seventeen differences are one too many to enumerate; scipy enumerates all 131,072.
    differences = np.round(rng.normal(0.08, 0.25, 17).clip(-1, 1), 6)
    theirs = stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    # 9,999 draws: a p near 0.2 has standard error 0.004.
    assert p_of([list(differences)])[0] == pytest.approx(theirs, abs=0.015)


def test_the_smallest_sampled_p_is_one_over_draws_plus_one() -> None:
    assert p_of([[0.5] * 60])[0] == 1 / 10_000
    assert p_of([[0.5] * 60], sign_flips=999)[0] == 1 / 1_000


def test_tasks_without_a_difference_change_nothing() -> None:
    differences = list(np.round(np.random.default_rng(1).normal(0.05, 0.2, 30).clip(-1, 1), 6))
    alone, padded = p_of([[*differences, *[None] * 20], [*differences, *[0.0] * 20]])
    assert alone == padded
