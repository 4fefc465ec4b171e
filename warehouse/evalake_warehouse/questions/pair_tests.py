"""Candidates against a baseline, tested on demand by the SQL that makes `fct_paired_tests`."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalake_warehouse.questions.open_warehouse import rows
from evalake_warehouse.questions.rendered_macros import render_macro
from evalake_warehouse.questions.runs import Run
from evalake_warehouse.statistics.relation import configured_intervals

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from evalake_warehouse.questions.baseline import Baseline


def pair_tests(
    connection: DuckDBPyConnection,
    baseline: Run | Baseline,
    candidates: Sequence[Run],
    *,
    macros: Path,
    primary_metric: str,
    metrics: Collection[str] | None = None,
) -> list[dict[str, Any]]:
    """One row per candidate and metric, with the columns of `fct_paired_tests`.

    p is adjusted over these candidates. The scores that were paired stay in the temporary table
    `compared_values` until the next call.

    Args:
        connection: from `open_warehouse`; only temporary tables are made in it.
        macros: the dbt project's folder of macros.
        primary_metric: the metric that rows are marked by as primary.
        metrics: test on these only; None for every metric that the runs are scored by.
    """
    variables = build_variables(connection)

    def stage(table: str, call: str) -> None:
        sql = render_macro(macros, call, variables)
        connection.execute(f"create or replace temp table {table} as {sql}")

    _lay_scores(connection, baseline, candidates, metrics)
    _lay_pairs(connection, baseline, candidates, primary_metric)
    stage(
        "compared_values",
        "paired_values('compared_pairs', 'compared_metrics', 'compared_metrics', 'dim_tasks')",
    )
    connection.execute(
        "create or replace temp table compared_slices as select *, "
        "null::varchar as dimension, null::varchar as dimension_value from compared_values"
    )
    stage("compared_series", "paired_series('compared_slices', 'pair')")
    scores = connection.sql(
        f"select {render_macro(macros, 'stat_series_id()', variables)} as series_id, * "
        "from compared_series"
    )
    connection.register("compared_intervals", configured_intervals(scores, variables))
    stage(
        "compared_measures",
        "paired_measures('compared_pairs', 'compared_slices', 'compared_metrics', "
        "'compared_intervals', 'metric_definitions')",
    )
    stage("compared_lists", "paired_lists('compared_pairs', 'compared_task_lists')")
    call = (
        "paired_tests('compared_pairs', 'compared_measures', 'compared_lists', 'compared_suspects')"
    )
    return rows(connection, render_macro(macros, call, variables))


def build_variables(connection: DuckDBPyConnection) -> Mapping[str, Any]:
    """The variables that the warehouse was built with."""
    found = connection.execute(
        "select vars_json from meta_build order by build_id desc limit 1"
    ).fetchone()
    return {"sign_flips": 9_999, **json.loads(found[0] if found else "{}")}


def _lay_scores(
    connection: DuckDBPyConnection,
    baseline: Run | Baseline,
    candidates: Sequence[Run],
    metrics: Collection[str] | None,
) -> None:
    run_ids = [run.run_id for run in candidates]
    frozen_id, suspect_reason = None, None
    if isinstance(baseline, Run):
        run_ids.append(baseline.run_id)
    else:
        frozen_id, suspect_reason = baseline.run.run_id, baseline.suspect_reason
    wanted = {"metrics": None if metrics is None else list(metrics)}
    of_wanted = "($metrics is null or list_contains($metrics, metric))"
    connection.execute(
        "create or replace temp table compared_metrics as "
        "select run_id, task_id, metric, measure, level, value, null_reason "
        f"from fct_task_metrics where list_contains($runs, run_id) and {of_wanted}",
        {"runs": run_ids, **wanted},
    )
    if not isinstance(baseline, Run):
        connection.register("frozen_metrics", baseline.task_metrics())
        connection.execute(
            f"insert into compared_metrics by name select * from frozen_metrics where {of_wanted}",
            wanted,
        )
    connection.execute(
        "create or replace temp table compared_task_lists as select run_id, task_id, list_digest "
        "from fct_task_lists where list_contains(?, run_id)",
        [run_ids],
    )
    connection.execute(
        "create or replace temp table compared_suspects as select run_id, suspect_reason "
        "from fct_run_completeness where suspect and list_contains($runs, run_id) "
        "union all select $frozen, $reason where $reason is not null",
        {"runs": run_ids, "frozen": frozen_id, "reason": suspect_reason},
    )


def _lay_pairs(
    connection: DuckDBPyConnection,
    baseline: Run | Baseline,
    candidates: Sequence[Run],
    primary_metric: str,
) -> None:
    import pyarrow as pa

    against = baseline if isinstance(baseline, Run) else baseline.run
    kind, file, sha256 = (
        ("run", None, None)
        if isinstance(baseline, Run)
        else ("frozen", baseline.file, baseline.sha256)
    )
    texts = (
        "family", "dataset", "edition", "split", "primary_metric", "baseline_run_id",
        "candidate_run_id", "baseline_kind", "baseline_file", "baseline_sha256", "adjusted_with",
    )  # fmt: skip
    schema = pa.schema(
        [(name, pa.string()) for name in texts]
        + [("baseline_depth", pa.int64()), ("candidate_depth", pa.int64())]
    )
    pairs = [
        {
            "family": "",
            "dataset": run.dataset,
            "edition": run.edition,
            "split": run.split,
            "primary_metric": primary_metric,
            "baseline_run_id": against.run_id,
            "candidate_run_id": run.run_id,
            "baseline_kind": kind,
            "baseline_file": file,
            "baseline_sha256": sha256,
            "adjusted_with": "",
            "baseline_depth": against.depth,
            "candidate_depth": run.depth,
        }
        for run in candidates
    ]
    connection.register("incoming_pairs", pa.Table.from_pylist(pairs, schema=schema))
    connection.execute("create or replace temp table compared_pairs as from incoming_pairs")
    connection.unregister("incoming_pairs")
