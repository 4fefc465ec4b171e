"""Bootstrap intervals of 2,000 series x 1,000 resamples at n = 1,000, fetched from DuckDB: ours, a
bare numpy matrix product and scipy.stats.bootstrap. Then a paired comparison of 50 arms.

All contenders run in this process, in turn, so that they share the machine's state; CPU seconds
and wall seconds are medians.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import duckdb
import numpy as np
from numpy.typing import NDArray

from evalake_warehouse.identity import task_seed
from evalake_warehouse.project import find_project_dir
from evalake_warehouse.questions.rendered_macros import render_macro
from evalake_warehouse.statistics.intervals import Settings
from evalake_warehouse.statistics.relation import interval_table

N_SERIES, N_TASKS, RESAMPLES, N_ARMS = 2_000, 1_000, 1_000, 50
VARIABLES = {"confidence": 0.95, "margin": 0.02, "min_pairs": 10}

Matrix = NDArray[np.float64]


def main() -> None:
    """Print seconds and ratios."""
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    _write_series(connection)
    contenders: dict[str, tuple[Callable[[], object], int]] = {
        "evalake": (lambda: ours(connection), 3),
        "numpy product": (lambda: numpy_product(connection), 3),
        "scipy bootstrap": (lambda: scipy_bootstrap(connection), 1),
    }
    timed = {name: _time(run, repeats) for name, (run, repeats) in contenders.items()}
    print(f"{N_SERIES:,} intervals x {RESAMPLES:,} resamples, {N_TASKS:,} tasks, fetch included")
    for name, (cpu_s, wall_s) in timed.items():
        ratio = cpu_s / timed["evalake"][0]
        print(f"  {name:<24} {cpu_s:8.2f} s CPU {wall_s:8.2f} s wall   {ratio:5.1f} x")
    _write_family(connection)
    print(f"paired tests, {N_ARMS} arms against a baseline, {N_TASKS:,} tasks, one metric")
    cpu_s, wall_s = _time(lambda: paired(connection), 3)
    print(f"  {'evalake':<24} {cpu_s:8.2f} s CPU {wall_s:8.2f} s wall")


def ours(connection: duckdb.DuckDBPyConnection) -> object:
    """What the build does for a run's series."""
    return interval_table(connection.table("int_series"), Settings(resamples=RESAMPLES))


def numpy_product(connection: duckdb.DuckDBPyConnection) -> tuple[Matrix, Matrix]:
    """Poisson weights from numpy's generator, one matrix product, linear quantiles."""
    scores = _fetch(connection)
    weights = np.random.default_rng(0).poisson(1.0, (N_TASKS, RESAMPLES)).astype(np.float64)
    means = scores @ weights / weights.sum(axis=0)
    low, high = np.quantile(means, [0.025, 0.975], axis=1)
    return low, high


def scipy_bootstrap(connection: duckdb.DuckDBPyConnection) -> object:
    """scipy.stats.bootstrap along an axis, in batches that fit memory."""
    from scipy import stats

    return stats.bootstrap(
        (_fetch(connection),),
        np.mean,
        axis=1,
        n_resamples=RESAMPLES,
        batch=10,
        method="percentile",
        rng=np.random.default_rng(0),
    )


def paired(connection: duckdb.DuckDBPyConnection) -> object:
    """Differences, intervals, sign-flips, McNemar, Holm and verdicts of all arms."""
    macros = find_project_dir() / "warehouse" / "dbt-project" / "macros"
    calls = {
        "differences": "paired_values('pairs', 'task_metrics', 'task_metrics', 'tasks')",
        "series": "paired_series('slices', 'pair')",
    }
    connection.execute(
        f"create or replace temp table slices as select *, null::varchar as dimension, "
        f"null::varchar as dimension_value from "
        f"({render_macro(macros, calls['differences'], VARIABLES)})"
    )
    series = connection.sql(
        f"select {render_macro(macros, 'stat_series_id()', VARIABLES)} as series_id, * "
        f"from ({render_macro(macros, calls['series'], VARIABLES)})"
    )
    connection.register("intervals", interval_table(series, Settings()))
    call = "paired_measures('pairs', 'slices', 'task_metrics', 'intervals', 'definitions')"
    connection.execute(
        f"create or replace temp table measures as {render_macro(macros, call, VARIABLES)}"
    )
    call = "paired_tests('pairs', 'measures')"
    return connection.execute(render_macro(macros, call, VARIABLES)).fetchall()


def _fetch(connection: duckdb.DuckDBPyConnection) -> Matrix:
    found = connection.execute(
        "select score from int_series order by series_id, task_seed"
    ).fetchnumpy()["score"]
    return np.asarray(found, dtype=np.float64).reshape(N_SERIES, N_TASKS) / 1e6


def _write_series(connection: duckdb.DuckDBPyConnection) -> None:
    seeds = np.array([task_seed("bench", str(i)) for i in range(N_TASKS)])  # noqa: F841 - scanned
    connection.execute("select setseed(0.5)")
    connection.execute(
        f"""
        create table int_series as
        select
            series.i as series_id,
            'run' as kind,
            null::varchar as baseline_run_id,
            'run ' || series.i // 20 as run_id,
            null::varchar as dimension,
            null::varchar as dimension_value,
            'metric ' || series.i % 20 as metric,
            tasks.column0 as task_seed,
            null::bigint as stratum_seed,
            cast(random() * 1e6 as bigint) as score
        from range({N_SERIES}) as series(i), seeds as tasks
        """
    )


def _write_family(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        "create table tasks as select 'bench' as dataset, 'e' as edition, task_seed, "
        "task_seed::varchar as task_id, null::varchar as stratum "
        "from (select distinct task_seed from int_series)"
    )
    connection.execute(
        f"create table task_metrics as select 'run ' || arm as run_id, task_id, "
        f"'success@5' as metric, 'success' as measure, 'file' as level, "
        f"(random() < 0.5)::double as value, null::varchar as null_reason "
        f"from tasks, range({N_ARMS + 1}) as arms(arm)"
    )
    connection.execute(
        f"create table pairs as select 'f' as family, 'bench' as dataset, 'e' as edition, "
        f"'dev' as split, 'success@5' as primary_metric, 'run 0' as baseline_run_id, "
        f"'run ' || arm as candidate_run_id, 'run' as baseline_kind, "
        f"null::varchar as baseline_file, null::varchar as baseline_sha256, 'f' as adjusted_with "
        f"from range(1, {N_ARMS + 1}) as arms(arm)"
    )
    connection.execute(
        "create table definitions as select 'success@5' as metric, true as is_binary"
    )


def _time(run: Callable[[], object], repeats: int) -> tuple[float, float]:
    taken = []
    for _ in range(repeats):
        cpu, wall = time.process_time(), time.perf_counter()
        run()
        taken.append((time.process_time() - cpu, time.perf_counter() - wall))
    return statistics.median(cpu for cpu, _ in taken), statistics.median(wall for _, wall in taken)


if __name__ == "__main__":
    main()
