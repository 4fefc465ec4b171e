"""Whether two runs are judged by the same gold, without which a difference means nothing."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from evalake_warehouse.errors import UsageError
from evalake_warehouse.lake.reader import sql_literal
from evalake_warehouse.questions.open_warehouse import rows
from evalake_warehouse.questions.runs import Run

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def refuse_unlike(connection: DuckDBPyConnection, baseline: Run, candidate: Run) -> None:
    """Refuse runs that are not judged by the same gold.

    Raises:
        UsageError: other dataset or edition, with the edition that can judge both, if there is one.
    """
    if baseline.dataset != candidate.dataset:
        raise UsageError(
            f"the baseline ran on dataset {baseline.dataset!r}, the candidate on "
            f"{candidate.dataset!r}; only runs on one dataset can be compared",
            hint=f"evalake runs list --dataset {quote(candidate.dataset)}",
        )
    if baseline.edition != candidate.edition:
        what = (
            f"the baseline is judged by edition {baseline.edition} of {baseline.dataset}, the "
            f"candidate by {candidate.edition}"
        )
        common = _common_edition(connection, baseline, candidate)
        if common is None:
            raise UsageError(
                f"{what}, and no edition asks what both answered; run the baseline again",
                hint=f"evalake runs list --dataset {quote(candidate.dataset)}",
            )
        raise UsageError(
            f"{what}; edition {common} can judge both: compare them with --scenario {common}",
            hint=f"evalake build --gold {quote(candidate.dataset)}@{common} --scenario {common}",
        )


def _common_edition(connection: DuckDBPyConnection, baseline: Run, candidate: Run) -> str | None:
    """The edition that can judge both runs; a frozen baseline was judged by its own alone."""
    found = rows(
        connection,
        "select run_id, edition from dim_run_editions "
        f"where run_id in ({sql_literal(baseline.run_id)}, {sql_literal(candidate.run_id)}) "
        "order by edition",
    )
    of_candidate = [row["edition"] for row in found if row["run_id"] == candidate.run_id]
    of_baseline = {row["edition"] for row in found if row["run_id"] == baseline.run_id}
    of_baseline = of_baseline or {baseline.edition}
    return next((edition for edition in of_candidate if edition in of_baseline), None)
