"""What dbt finds of judgements: which edition judges which run, and answers that do not count."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING

from evalake_warehouse.build.freshness import Changes, RunState

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_EMPTY = (
    "create or replace table build.judgements (run_id varchar, edition varchar, n_tasks bigint)",
    "create or replace table build.run_editions "
    "(run_id varchar, edition varchar, n_tasks bigint, is_current boolean)",
    "create or replace table build.other_questions (dataset varchar, query_variant varchar, "
    "asked_edition varchar, edition varchar, task_id varchar)",
)


def lay_judgements(
    connection: DuckDBPyConnection, changes: Changes, run_ids: Collection[str]
) -> None:
    """Lay out the judgements of a batch's runs, and the answers that are no evidence for them."""
    import pyarrow as pa

    for statement in _EMPTY:
        connection.execute(statement)
    states = [state for state in changes.states if state.run_id in run_ids]
    judged = [
        {"run_id": state.run_id, "edition": state.edition, "n_tasks": state.n_tasks}
        for state in states
    ]
    questions = {(state.dataset, state.query_variant, state.edition) for state in states}
    others = [
        {
            "dataset": other.dataset,
            "query_variant": other.query_variant,
            "asked_edition": other.asked_edition,
            "edition": other.edition,
            "task_id": other.task_id,
        }
        for place in sorted(questions)
        for other in changes.judges.other_questions(*place)
    ]
    editions = [row for state in states for row in _editions(state)]
    for table, rows in (
        ("judgements", judged), ("run_editions", editions), ("other_questions", others),
    ):  # fmt: skip
        if rows:
            connection.register("incoming", pa.Table.from_pylist(rows))
            connection.execute(f"insert into build.{table} by name select * from incoming")
            connection.unregister("incoming")


def _editions(state: RunState) -> list[dict[str, object]]:
    named = {state.edition: state.n_tasks, **json.loads(state.other_editions_json)}
    return [
        {
            "run_id": state.run_id,
            "edition": edition,
            "n_tasks": n_tasks,
            "is_current": edition == state.edition,
        }
        for edition, n_tasks in named.items()
    ]
