"""Weights: Poisson(1), functions of their names, and the same bits in SQL."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest
from scipy import stats
from statistics_helpers import macro, seeds_for

from evalake_warehouse.statistics.mixer import (
    POISSON_THRESHOLDS,
    mix32,
    poisson_weights,
    random_signs,
)


def test_the_mixer_gives_the_published_values() -> None:
    # lowbias32 worked step by step with Python's unbounded integers.
    def by_hand(x: int) -> int:
        x ^= x >> 16
        x = x * 0x7FEB352D % 2**32
        x ^= x >> 15
        x = x * 0x846CA68B % 2**32
        return x ^ x >> 16

    words = np.array([0, 1, 2, 0xDEADBEEF, 2**32 - 1], dtype=np.uint32)
    assert mix32(words).tolist() == [by_hand(int(word)) for word in words]


def test_thresholds_are_the_poisson_distribution() -> None:
    expected = [round(stats.poisson.cdf(k, 1) * 2**32) for k in range(12)]
    assert list(POISSON_THRESHOLDS) == expected
    assert round(stats.poisson.cdf(12, 1) * 2**32) == 2**32


@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_sql_and_numpy_give_the_same_weights(seed: int) -> None:
    seeds = np.concatenate([seeds_for(40), np.array([0, 1, 2**32 - 1, 2**32, 2**63 - 1])])
    ours = poisson_weights(seeds, resamples=200, seed=seed)
    tasks = {"task_seed": seeds, "nth": np.arange(len(seeds))}
    connection = duckdb.connect()
    connection.register("tasks", __import__("pyarrow").table(tasks))
    weight = macro(f"stat_poisson_weight('task_seed', 'resample', '{seed}')")
    rows = connection.execute(
        f"select {weight} from tasks, range(200) as r(resample) order by nth, resample"
    ).fetchall()
    assert np.array(rows).reshape(len(seeds), 200).tolist() == ours.astype(int).tolist()


def test_weights_have_the_moments_of_poisson_1() -> None:
    weights = poisson_weights(seeds_for(2_000), resamples=1_000, seed=0)
    # Two million draws: a mean's standard error is 0.0007, a variance's 0.0012.
    assert weights.mean() == pytest.approx(1, abs=0.003)
    assert weights.var() == pytest.approx(1, abs=0.006)


def test_weights_of_different_tasks_and_resamples_are_uncorrelated() -> None:
    weights = poisson_weights(seeds_for(300), resamples=1_000, seed=0)
    between_tasks = np.corrcoef(weights)[np.triu_indices(300, 1)]
    between_resamples = np.corrcoef(weights.T)[np.triu_indices(1_000, 1)]
    # A correlation of n independent pairs has standard deviation 1 / sqrt(n).
    assert between_tasks.std() == pytest.approx(1 / np.sqrt(1_000), rel=0.05)
    assert between_resamples.std() == pytest.approx(1 / np.sqrt(300), rel=0.05)
    assert abs(between_tasks.mean()) < 0.001
    assert abs(between_resamples.mean()) < 0.001


def test_a_weight_does_not_depend_on_the_other_tasks_or_their_order() -> None:
    seeds = seeds_for(50)
    everything = poisson_weights(seeds, resamples=100, seed=0)
    some = np.array([31, 4, 15])
    assert poisson_weights(seeds[some], resamples=100, seed=0).tolist() == everything[some].tolist()
    assert poisson_weights(seeds, resamples=40, seed=0).tolist() == everything[:, :40].tolist()


def test_another_seed_gives_other_weights() -> None:
    seeds = seeds_for(50)
    one = poisson_weights(seeds, resamples=100, seed=0)
    assert np.mean(one == poisson_weights(seeds, resamples=100, seed=1)) < 0.4


def test_signs_do_not_depend_on_how_draws_are_cut() -> None:
    seeds = seeds_for(20)
    whole = random_signs(seeds, first=0, count=128, seed=0)
    later = random_signs(seeds, first=64, count=64, seed=0)
    assert whole[:, 64:].tolist() == later.tolist()
    assert set(np.unique(whole)) == {-1.0, 1.0}


def test_signs_are_fair_and_unlike_the_weights() -> None:
    seeds = seeds_for(1_000)
    signs = random_signs(seeds, first=0, count=1_024, seed=0)
    assert abs(signs.mean()) < 0.004  # standard error 0.001
    weights = poisson_weights(seeds, resamples=1_024, seed=0)
    assert abs(np.corrcoef(signs.ravel(), weights.ravel())[0, 1]) < 0.004
