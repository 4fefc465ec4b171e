"""What the marts and the lake say about each run of a selection: the queries of every report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalake_reports.charts.marts import ids
from evalake_reports.charts.selection import Selection
from evalake_reports.report.tables import whole
from evalake_warehouse.questions.runs import Run


def everyone(selection: Selection) -> list[Run]:
    """The runs of a selection, and after them those that it leaves out."""
    return [*selection.runs, *(item.run for item in selection.left_out)]


def metric_rows(
    selection: Selection, metrics: Sequence[str]
) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Rows of `fct_run_metrics` by run and metric."""
    found = selection.marts.rows(
        "select * from fct_run_metrics where list_contains(?, run_id) and list_contains(?, metric)",
        ids(everyone(selection)),
        list(metrics),
    )
    return {(row["run_id"], row["metric"]): row for row in found}


def completeness_of(selection: Selection) -> dict[str, Mapping[str, Any]]:
    """Rows of `fct_run_completeness` by run."""
    found = selection.marts.rows(
        "select * from fct_run_completeness where list_contains(?, run_id)",
        ids(everyone(selection)),
    )
    return {row["run_id"]: row for row in found}


def cell(row: Mapping[str, Any] | None, column: str) -> Any:
    """A column of a mart's row; None where the mart has no row."""
    return None if row is None else row[column]


def n_failed(completeness: Mapping[str, Any] | None) -> int | None:
    """Tasks that ended in an error or a timeout; those not attempted did not fail."""
    if completeness is None:
        return None
    return int(completeness["n_error"] + completeness["n_timeout"])


def not_scored(selection: Selection) -> dict[str, dict[str, int]]:
    """Per run the tasks without a score on the primary metric, counted by reason."""
    found = selection.marts.rows(
        """
        select run_id, null_reason, count(*) as n
        from fct_task_metrics
        where list_contains(?, run_id) and metric = ? and null_reason <> 'not_attempted'
        group by run_id, null_reason
        order by n desc, null_reason
        """,
        ids(everyone(selection)),
        selection.primary_metric,
    )
    reasons: dict[str, dict[str, int]] = {run.run_id: {} for run in everyone(selection)}
    for row in found:
        reasons[row["run_id"]][row["null_reason"]] = row["n"]
    # Most tasks that were never tried have no row among the scores.
    for run_id, completeness in completeness_of(selection).items():
        if completeness["n_not_attempted"]:
            reasons[run_id]["not_attempted"] = completeness["n_not_attempted"]
    return reasons


def reasons_text(reasons: Mapping[str, int]) -> str:
    """`2 error, 1 timeout`."""
    return ", ".join(f"{whole(n)} {reason}" for reason, n in reasons.items())


def search_latency(selection: Selection) -> dict[str, Mapping[str, Any]]:
    """Search latency per run: warm where it was measured, else what there is."""
    found = selection.marts.rows(
        """
        select *
        from fct_run_latency
        where list_contains(?, run_id) and phase = 'search'
        qualify row_number() over (
            partition by run_id order by temperature = 'warm' desc, n desc
        ) = 1
        """,
        ids(everyone(selection)),
    )
    return {row["run_id"]: row for row in found}


def cost_rows(selection: Selection) -> list[dict[str, Any]]:
    """Money, payload and indexing per run that has any of them, with the arm's name."""
    found = selection.marts.rows(
        """
        with attempts as (
            select
                run_id,
                sum(cost_usd) as cost_usd,
                count(cost_usd) as n_priced,
                count(*) as n_attempts,
                median(payload_bytes) as payload_bytes,
                sum(n_tool_calls) as n_tool_calls
            from lake.attempts
            where list_contains($1, run_id)
            group by run_id
        ),
        indexes as (
            select
                run_id,
                sum(seconds) filter (where not cache_hit) as index_s,
                sum(bytes_on_disk) as bytes_on_disk,
                sum(n_chunks) as n_chunks,
                sum(n_vectors) as n_vectors,
                count(*) filter (where cache_hit) as n_cached
            from lake.index_events
            where list_contains($1, run_id)
            group by run_id
        )
        select *
        from attempts
        full join indexes using (run_id)
        """,
        ids(selection.runs),
    )
    by_run = {row["run_id"]: row for row in found}
    return [
        {**by_run[run.run_id], "arm": selection.labels[run.run_id]}
        for run in selection.runs
        if run.run_id in by_run
    ]


def dataset_row(selection: Selection) -> dict[str, Any] | None:
    """The record of the dataset edition, where the lake has it."""
    first = selection.runs[0]
    found = selection.marts.rows(
        "select * from lake.datasets where dataset = ? and edition = ? "
        "qualify row_number() over (order by arrival_id desc nulls last, ingested_at desc) = 1",
        first.dataset,
        first.edition,
    )
    return found[0] if found else None


def drop_rows(selection: Selection) -> list[dict[str, Any]]:
    """Source rows left out of the dataset: one row per reason, with an example."""
    first = selection.runs[0]
    return selection.marts.rows(
        """
        select reason, count(*) as n, min(source_row) as example, any_value(evidence) as evidence
        from (
            select distinct reason, source_row, evidence
            from lake.drops
            where dataset = ? and edition = ?
        )
        group by reason
        order by n desc, reason
        """,
        first.dataset,
        first.edition,
    )
