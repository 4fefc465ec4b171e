"""Which of a task's tries in a run counts, for every query over `attempts`."""

from __future__ import annotations

from evalake_warehouse.vocabulary import ANSWERED, sql_list


def counted_try(partition: str) -> str:
    """Condition for `qualify`: the latest try that was answered, else the latest.

    Args:
        partition: columns that tell one task of a run from another, such as `run_id, task_id`.
    """
    return (
        f"row_number() over (partition by {partition} "
        f"order by status in {sql_list(ANSWERED)} desc, attempt desc) = 1"
    )
