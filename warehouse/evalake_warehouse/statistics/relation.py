"""From a relation of task scores to a table of intervals, a bounded number of rows at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evalake_warehouse.statistics.intervals import Intervals, Settings, compute_intervals
from evalake_warehouse.statistics.series import Series

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

KEYS = ("kind", "baseline_run_id", "run_id", "dimension", "dimension_value", "metric")
_FLOATS = ("ci_low", "ci_high", "cluster_low", "cluster_high", "design_effect", "sign_flip_p")
_ROWS_AT_ONCE = 4_000_000
_PAIRED = ("pair", "pair_breakout")
_CLUSTERED = ("run", "pair")


def configured_intervals(
    scores: duckdb.DuckDBPyRelation, configured: Mapping[str, object]
) -> pa.Table:
    """`interval_table` by the settings of the model `int_intervals`, which dbt renders as text."""
    settings = Settings(
        confidence=float(str(configured["confidence"])),
        resamples=int(str(configured["resamples"])),
        bootstrap_seed=int(str(configured["bootstrap_seed"])),
        sign_flips=int(str(configured["sign_flips"])),
    )
    return interval_table(scores, settings)


def interval_table(scores: duckdb.DuckDBPyRelation, settings: Settings) -> pa.Table:
    """One row per series of `int_series`: its keys, number of tasks and intervals.

    `scores` has one row per series and task: `series_id`, the columns of `KEYS`, `task_seed`,
    `stratum_seed` and `score` in millionths.
    """
    import pyarrow as pa

    per_kind = scores.query(
        "scores", "select kind, count(*) from scores group by kind order by kind"
    )
    parts = [_schema().empty_table()]
    for kind, n_rows in per_kind.fetchall():
        n_parts = -(-n_rows // _ROWS_AT_ONCE)
        for part in range(n_parts):
            # Whole series stay together, and the numbers do not depend on how they are cut.
            wanted = f"kind = '{kind}' and series_id % {n_parts} = {part}"
            parts.append(_part(scores, wanted, kind, settings))
    return pa.concat_tables(parts)


def _part(scores: duckdb.DuckDBPyRelation, wanted: str, kind: str, settings: Settings) -> pa.Table:
    import pyarrow as pa

    picked = ", ".join(f"any_value({key}) as {key}" for key in KEYS)
    keys = scores.query(
        "scores",
        f"select {picked}, count(*) as n_tasks from scores where {wanted} "
        "group by series_id order by series_id",
    ).to_arrow_table()
    flat = scores.query(
        "scores",
        "select task_seed, score, coalesce(stratum_seed, -1) as stratum from scores "
        f"where {wanted} order by series_id, task_seed",
    ).fetchnumpy()
    sizes = keys["n_tasks"].to_numpy()
    series = Series(
        starts=np.concatenate([[0], np.cumsum(sizes)]),
        task_seeds=_plain(flat["task_seed"]),
        scores=_plain(flat["score"]),
        strata=_plain(flat["stratum"]),
    )
    found = compute_intervals(
        series, settings, paired=kind in _PAIRED, clustered=kind in _CLUSTERED
    )
    names = [*keys.column_names, *_columns(found)]
    return pa.table([*keys.columns, *_columns(found).values()], names=names).cast(_schema())


def _columns(found: Intervals) -> dict[str, pa.Array]:
    import pyarrow as pa

    columns = {
        name: pa.array(getattr(found, name), mask=np.isnan(getattr(found, name)))
        for name in _FLOATS
    }
    return {**columns, "n_clusters": pa.array(found.n_clusters, mask=found.n_clusters == 0)}


def _plain(column: Any) -> NDArray[np.int64]:
    """A column without NULL, as numbers."""
    return np.ascontiguousarray(np.ma.getdata(column), dtype=np.int64)


def _schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            *((key, pa.string()) for key in KEYS),
            ("n_tasks", pa.int64()),
            *((name, pa.float64()) for name in _FLOATS),
            ("n_clusters", pa.int64()),
        ]
    )
