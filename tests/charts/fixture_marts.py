"""A warehouse with believable synthetic marts, and the lake behind it.

Every figure follows from one drawn table: the rank at which an arm found a task's gold item.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from tests.charts.fixture_arms import RunSpec, arrival_id
from tests.charts.fixture_runs import add_run
from tests.charts.fixture_summaries import add_paired, add_summaries
from tests.charts.fixture_tables import Tables
from tests.charts.fixture_tasks import add_tasks


def build_warehouse(
    home: Path,
    runs: list[RunSpec],
    *,
    hit_text: str | None = None,
    query_prefix: str = "",
    with_lake: bool = True,
) -> None:
    """Write the marts and the lake for some runs, which are given their ids, under `home`."""
    home.mkdir(parents=True, exist_ok=True)
    tables = Tables()
    largest = max(run.n_tasks for run in runs)
    for dataset, edition in dict.fromkeys((run.dataset, run.edition) for run in runs):
        add_tasks(tables, dataset, edition, largest, query_prefix=query_prefix)
    for number, run in enumerate(runs):
        run.run_id = run.run_id or _run_id(run, number)
        add_run(tables, run, hit_text=hit_text)
        add_summaries(tables, run)
    add_paired(tables, runs)
    tables.write_marts(home / "warehouse.duckdb")
    if with_lake:
        tables.write_lake(home / "lake")


def _run_id(run: RunSpec, number: int) -> str:
    digest = hashlib.sha256(
        f"{run.arm.label}{run.dataset}{run.split}{run.started_at}{number}".encode()
    ).hexdigest()
    return arrival_id(run.started_at, f"{number:03x}{digest}")
