"""Two runs against each other, read-only, by the SQL that `fct_paired_tests` is made with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalake_warehouse.errors import UsageError
from evalake_warehouse.nearest import did_you_mean
from evalake_warehouse.questions.cautions import (
    Caution,
    depth_cautions,
    frozen_cautions,
    run_cautions,
)
from evalake_warehouse.questions.comparable import refuse_unlike
from evalake_warehouse.questions.definitions import SHOWN_METRICS, cutoff_of
from evalake_warehouse.questions.open_warehouse import rows
from evalake_warehouse.questions.rendered_macros import render_macro
from evalake_warehouse.questions.runs import Run, primary_metric
from evalake_warehouse.statistics.intervals import Settings
from evalake_warehouse.statistics.relation import interval_table

if TYPE_CHECKING:
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from evalake_warehouse.questions.baseline import Baseline

# Left out of a comparison's rows: they belong to a family of candidates.
_FAMILY_COLUMNS = ("family", "dimension", "dimension_value", "n_tests", "p_bh")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A candidate against a baseline on the tasks both were scored on."""

    baseline: Run
    candidate: Run
    primary_metric: str
    tests: list[dict[str, Any]]  # one per metric, columns of fct_paired_tests
    flipped: list[dict[str, Any]]  # tasks whose primary metric differs
    variables: Mapping[str, Any]  # of the build: confidence, margin, min_pairs, ...
    baseline_cautions: Sequence[Caution] = ()
    candidate_cautions: Sequence[Caution] = ()
    pair_cautions: Sequence[Caution] = ()  # that come of comparing these two

    @property
    def has_verdict(self) -> bool:
        """Whether the metric judged by allows a conclusion at all, if only `insufficient`."""
        test = self.test(self.primary_metric)
        return bool(test["verdict"] != "suspect" and test["n_pairs"])

    def test(self, metric: str) -> dict[str, Any]:
        """The row of one metric.

        Raises:
            UsageError: neither run was scored by it, with the nearest ones.
        """
        for row in self.tests:
            if row["metric"] == metric:
                return row
        known = [row["metric"] for row in self.tests]
        raise UsageError(
            f"unknown metric {metric!r}{did_you_mean(metric, known)}", where="--metric"
        )


def compare_runs(
    connection: DuckDBPyConnection,
    baseline: Run | Baseline,
    candidate: Run,
    *,
    macros: Path,
    metric: str | None = None,
) -> Comparison:
    """Test the candidate against the baseline on every metric.

    Args:
        connection: from `open_warehouse`; only temporary tables are made in it.
        macros: the dbt project's folder of macros.
        metric: judge flipped tasks by it instead of the candidate's primary metric.

    Raises:
        UsageError: the runs are of different datasets or editions, so that a difference
            would mean nothing.
    """
    against = baseline if isinstance(baseline, Run) else baseline.run
    refuse_unlike(connection, against, candidate)
    variables = build_variables(connection)
    primary = metric or primary_metric(connection, [candidate])
    _stage(connection, baseline, candidate, primary)
    _render_to(
        connection,
        "compared_values",
        "paired_values('compared_pairs', 'compared_metrics', 'compared_metrics', 'dim_tasks')",
        macros,
        variables,
    )
    connection.execute(
        "create or replace temp table compared_slices as select *, "
        "null::varchar as dimension, null::varchar as dimension_value from compared_values"
    )
    _render_to(
        connection, "compared_series", "paired_series('compared_slices', 'pair')", macros, variables
    )
    scores = connection.sql(
        f"select {render_macro(macros, 'stat_series_id()', variables)} as series_id, * "
        "from compared_series"
    )
    settings = Settings(
        confidence=variables["confidence"],
        resamples=variables["resamples"],
        bootstrap_seed=variables["bootstrap_seed"],
        sign_flips=variables["sign_flips"],
    )
    connection.register("compared_intervals", interval_table(scores, settings))
    _render_to(
        connection,
        "compared_measures",
        "paired_measures('compared_pairs', 'compared_slices', 'compared_metrics', "
        "'compared_intervals', 'metric_definitions')",
        macros,
        variables,
    )
    _render_to(
        connection,
        "compared_lists",
        "paired_lists('compared_pairs', 'compared_task_lists')",
        macros,
        variables,
    )
    call = (
        "paired_tests('compared_pairs', 'compared_measures', 'compared_lists', 'compared_suspects')"
    )
    tests = sorted(
        (
            {name: value for name, value in row.items() if name not in _FAMILY_COLUMNS}
            for row in rows(connection, render_macro(macros, call, variables))
        ),
        key=_metric_order,
    )
    cautions = run_cautions(
        connection, [against.run_id, candidate.run_id], [primary, *SHOWN_METRICS]
    )
    result = Comparison(
        baseline=against,
        candidate=candidate,
        primary_metric=primary,
        tests=tests,
        flipped=_flipped(connection, primary),
        variables=variables,
        baseline_cautions=cautions[against.run_id]
        if isinstance(baseline, Run)
        else frozen_cautions(baseline),
        candidate_cautions=cautions[candidate.run_id],
        pair_cautions=depth_cautions({"baseline": against, "candidate": candidate}),
    )
    result.test(primary)
    return result


def build_variables(connection: DuckDBPyConnection) -> dict[str, Any]:
    """The variables that the warehouse was built with."""
    found = connection.execute(
        "select vars_json from meta_build order by build_id desc limit 1"
    ).fetchone()
    return {"sign_flips": 9_999, **json.loads(found[0] if found else "{}")}


def _stage(
    connection: DuckDBPyConnection, baseline: Run | Baseline, candidate: Run, primary: str
) -> None:
    against = baseline if isinstance(baseline, Run) else baseline.run
    run_ids = (
        [candidate.run_id, against.run_id] if isinstance(baseline, Run) else [candidate.run_id]
    )
    connection.execute(
        "create or replace temp table compared_metrics as "
        "select run_id, task_id, metric, measure, level, value, null_reason "
        "from fct_task_metrics where list_contains(?, run_id)",
        [run_ids],
    )
    if not isinstance(baseline, Run):
        connection.register("frozen_metrics", baseline.task_metrics())
        connection.execute("insert into compared_metrics by name select * from frozen_metrics")
    connection.execute(
        "create or replace temp table compared_task_lists as select run_id, task_id, list_digest "
        "from fct_task_lists where list_contains(?, run_id)",
        [run_ids],
    )
    suspect_reason = None if isinstance(baseline, Run) else baseline.suspect_reason
    connection.execute(
        "create or replace temp table compared_suspects as select run_id, suspect_reason "
        "from fct_run_completeness where suspect and list_contains($runs, run_id) "
        "union all select $frozen, $reason where $reason is not null",
        {"runs": run_ids, "frozen": against.run_id, "reason": suspect_reason},
    )
    connection.execute(
        "create or replace temp table compared_pairs as select ''::varchar as family, "
        "?::varchar as dataset, ?::varchar as edition, ?::varchar as split, "
        "?::varchar as primary_metric, ?::varchar as baseline_run_id, "
        "?::varchar as candidate_run_id, ?::varchar as baseline_kind, "
        "?::varchar as baseline_file, ?::varchar as baseline_sha256, "
        "?::bigint as baseline_depth, ?::bigint as candidate_depth, ''::varchar as adjusted_with",
        [
            candidate.dataset,
            candidate.edition,
            candidate.split,
            primary,
            against.run_id,
            candidate.run_id,
            *(
                ["run", None, None]
                if isinstance(baseline, Run)
                else ["frozen", baseline.file, baseline.sha256]
            ),
            against.depth,
            candidate.depth,
        ],
    )


def _render_to(
    connection: DuckDBPyConnection,
    table: str,
    call: str,
    macros: Path,
    variables: Mapping[str, Any],
) -> None:
    sql = render_macro(macros, call, variables)
    connection.execute(f"create or replace temp table {table} as {sql}")


def _flipped(connection: DuckDBPyConnection, metric: str) -> list[dict[str, Any]]:
    return rows(
        connection,
        "select v.task_id, v.metric, v.baseline_value, v.candidate_value, "
        "case when v.difference > 0 then 'won' else 'lost' end as direction, "
        "tasks.repo, tasks.qa_type, tasks.query "
        "from compared_values as v inner join dim_tasks as tasks "
        "using (dataset, edition, task_id) "
        "where v.metric = ? and v.baseline_value <> v.candidate_value "
        "order by v.difference, v.task_id",
        [metric],
    )


def _metric_order(row: Mapping[str, Any]) -> tuple[bool, str, int, str]:
    """The primary metric first, then by measure and cutoff."""
    return (
        not row["is_primary"],
        row["measure"],
        cutoff_of(row["metric"]) or 0,
        row["metric"],
    )
