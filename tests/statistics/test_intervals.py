"""Bootstrap intervals: against scipy, against SQL bit by bit, and independent of all but names."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from statistics_helpers import macro, series_of

from evalake_warehouse.statistics.intervals import Intervals, Settings, compute_intervals
from evalake_warehouse.statistics.relation import interval_table
from evalake_warehouse.statistics.series import Series, blocks

SETTINGS = Settings()


def intervals(series: Series, settings: Settings = SETTINGS, paired: bool = False) -> Intervals:
    return compute_intervals(series, settings, paired=paired, clustered=False)


def test_the_interval_agrees_with_scipy() -> None:
    scores = np.random.default_rng(7).beta(2, 3, size=200)
    ours = intervals(series_of([scores]), Settings(resamples=10_000))
    theirs = stats.bootstrap(
        (scores,), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(1)
    ).confidence_interval
    # Both use 10,000 draws: an endpoint's Monte Carlo error is about 0.0004 here; Poisson weights
    # let n vary, which a mean corrects for.
    assert ours.ci_low[0] == pytest.approx(theirs.low, abs=0.003)
    assert ours.ci_high[0] == pytest.approx(theirs.high, abs=0.003)


def test_sql_gives_the_same_bits() -> None:
    rng = np.random.default_rng(11)
    rows = [list(rng.random(35)), [float(value) for value in rng.integers(0, 2, 35)]]
    rows.append([value if rng.random() < 0.7 else None for value in rows[0]])
    series = series_of(rows)
    ours = intervals(series)
    owner = np.repeat(np.arange(3), series.sizes)
    connection = duckdb.connect()
    connection.register(
        "scores", pa.table({"s": owner, "task_seed": series.task_seeds, "score": series.scores})
    )
    weight = macro("stat_poisson_weight('task_seed', 'resample', '0')")
    found = connection.execute(
        f"""
        with weighted as (
            select s, resample, score, {weight} as weight
            from scores, range(1000) as r(resample)
        ),
        means as (
            select s, sum(weight * score)::double / (sum(weight) * 1000000)::double as mean
            from weighted group by s, resample
        ),
        sorted as (select s, list_sort(list(mean)) as means from means group by s)
        select means[25], means[976] from sorted order by s
        """
    ).fetchall()
    assert found == list(zip(ours.ci_low, ours.ci_high, strict=True))


def test_row_order_and_other_series_change_nothing() -> None:
    rng = np.random.default_rng(5)
    rows = [list(rng.random(40)) for _ in range(12)]
    alone = intervals(series_of([rows[3]]))  # padded, for want of company
    together = intervals(series_of(rows))  # one matrix without gaps
    with_gaps = [[v if rng.random() < 0.8 else None for v in row] for row in rows]
    among_others = intervals(series_of([*with_gaps, rows[3]]))
    assert alone.ci_low[0] == together.ci_low[3] == among_others.ci_low[-1]
    assert alone.ci_high[0] == together.ci_high[3] == among_others.ci_high[-1]


def test_the_relation_may_be_in_any_order() -> None:
    rng = np.random.default_rng(6)
    names = ["kind", "baseline_run_id", "run_id", "dimension", "dimension_value", "metric"]
    rows = [
        (
            series,
            "run",
            None,
            f"r{series}",
            None,
            None,
            "mrr",
            int(seed),
            int(rng.integers(1e6)),
            None,
        )
        for series in range(4)
        for seed in rng.integers(0, 2**63, 30)
    ]
    columns = ["series_id", *names, "task_seed", "score", "stratum_seed"]
    tables = []
    for order in (range(len(rows)), rng.permutation(len(rows))):
        data = {name: [rows[i][k] for i in order] for k, name in enumerate(columns)}
        table = pa.table(
            {
                name: pa.array(
                    values,
                    pa.int64()
                    if name in ("series_id", "task_seed", "score", "stratum_seed")
                    else pa.string(),
                )
                for name, values in data.items()
            }
        )
        tables.append(interval_table(duckdb.connect().from_arrow(table), SETTINGS))
    assert tables[0].sort_by("run_id").equals(tables[1].sort_by("run_id"))


def test_a_thread_more_or_less_changes_no_bit() -> None:
    script = (
        "import numpy as np; from statistics_helpers import series_of;"
        "from evalake_warehouse.statistics.intervals import *;"
        "rows = np.random.default_rng(1).random((64, 500));"
        "found = compute_intervals(series_of(rows), Settings(), paired=True, clustered=False);"
        "print(*(x.tobytes().hex() for x in (found.ci_low, found.ci_high, found.sign_flip_p)))"
    )
    digests = set()
    for threads in ("1", "2"):
        environment = {
            **os.environ,
            "OPENBLAS_NUM_THREADS": threads,
            "OMP_NUM_THREADS": threads,
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]),
        }
        output = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, check=True
        ).stdout
        digests.add(hashlib.sha256(output).hexdigest())
    assert len(digests) == 1


def test_swapping_the_two_runs_mirrors_the_interval_exactly() -> None:
    differences = np.random.default_rng(2).normal(0.02, 0.3, 60).clip(-1, 1)
    one = intervals(series_of([differences]), paired=True)
    other = intervals(series_of([-differences]), paired=True)
    assert one.ci_low[0] == -other.ci_high[0]
    assert one.sign_flip_p[0] == other.sign_flip_p[0]


def test_one_task_has_no_interval_and_equal_scores_have_one_of_width_0() -> None:
    found = intervals(series_of([[0.5], [0.25]]))
    assert np.isnan(found.ci_low).all()
    assert np.isnan(found.ci_high).all()
    flat = intervals(series_of([[0.25] * 12]))
    assert (flat.ci_low[0], flat.ci_high[0]) == (0.25, 0.25)


def test_no_series_and_empty_series_give_nothing() -> None:
    assert len(intervals(series_of([])).ci_low) == 0
    found = intervals(series_of([[None, None], [0.2, 0.4]]))
    assert np.isnan(found.ci_low[0])
    assert 0.2 <= found.ci_low[1] <= found.ci_high[1] <= 0.4


def test_series_over_the_same_tasks_share_a_block() -> None:
    rng = np.random.default_rng(8)
    rows = [list(rng.random(10)) for _ in range(20)]
    rows += [[v if i % 2 else None for i, v in enumerate(rng.random(10))] for _ in range(20)]
    rows += [[None if i == k else v for i, v in enumerate(rng.random(10))] for k in range(3)]
    found = sorted((len(block.rows), len(block.task_seeds)) for block in blocks(series_of(rows)))
    assert found == [(3, 10), (20, 5), (20, 10)]
