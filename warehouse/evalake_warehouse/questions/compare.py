"""Two runs against each other, read-only, by the SQL that `fct_paired_tests` is made with."""

from __future__ import annotations

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
from evalake_warehouse.questions.pair_tests import build_variables, pair_tests
from evalake_warehouse.questions.runs import Run, primary_metric

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
    found = pair_tests(connection, baseline, [candidate], macros=macros, primary_metric=primary)
    tests = sorted(
        (
            {name: value for name, value in row.items() if name not in _FAMILY_COLUMNS}
            for row in found
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
