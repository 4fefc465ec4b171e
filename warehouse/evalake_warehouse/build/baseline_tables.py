"""Frozen baselines in the build file: what dbt reads of them, and what they touch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from evalake_warehouse.build.freshness import Changes, Place
from evalake_warehouse.lake.reader import sql_literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from evalake_warehouse.questions.baseline import Baseline

_EMPTY = (
    "create table build.frozen_baselines (baseline_run_id varchar, run_id varchar, file varchar, "
    "sha256 varchar, arm_hash varchar, arm_label varchar, system varchar, "
    "system_version varchar, dataset varchar, edition varchar, split varchar, "
    "primary_metric varchar, depth bigint, n_tasks bigint, status varchar, "
    "suspect_reason varchar, started_at timestamp, "
    "relevance_rules varchar, evalake_version varchar)",
    "create table build.frozen_metrics (run_id varchar, task_id varchar, metric varchar, "
    "measure varchar, level varchar, value double, null_reason varchar)",
)


@dataclass(frozen=True, slots=True)
class FrozenWork:
    """What frozen baselines add to a build's work."""

    families: frozenset[str] = frozenset()  # with the runs of no family, which are each one
    n_tasks: Mapping[str, int] = field(default_factory=dict)  # to be compared, per run


def lay_baselines(connection: DuckDBPyConnection, changes: Changes) -> None:
    """Lay out every frozen baseline, and the scores of those something may be compared with."""
    for statement in _EMPTY:
        connection.execute(statement)
    if changes.baselines:
        import pyarrow as pa

        records = pa.Table.from_pylist([_record(baseline) for baseline in changes.baselines])
        _insert(connection, "build.frozen_baselines", records)
    judged = {(state.dataset, state.edition) for state in changes.changed}
    for baseline in changes.baselines:
        if baseline.run.run_id in changes.new_baselines or baseline.place[:2] in judged:
            _insert(connection, "build.frozen_metrics", baseline.task_metrics())


def forget_baselines(connection: DuckDBPyConnection, changes: Changes) -> None:
    """Delete comparisons with frozen baselines that no longer exist."""
    kept = ", ".join(sql_literal(baseline.run.run_id) for baseline in changes.baselines)
    connection.execute(
        "delete from int_pair_measures where starts_with(baseline_run_id, 'frozen:') "
        f"and not list_contains(cast([{kept}] as varchar[]), baseline_run_id)"
    )


def frozen_work(database: Path, changes: Changes) -> FrozenWork:
    """Which families' tests a build makes anew for frozen baselines, and which runs it compares.

    Nothing where there is no frozen baseline, and was none.
    """
    if not (changes.baselines or changes.had_baselines):
        return FrozenWork()
    families = set(changes.run_ids)
    n_tasks: Counter[str] = Counter()
    for baseline in changes.baselines:
        for state in changes.changed:
            if (state.dataset, state.edition) == baseline.place[:2]:
                n_tasks[state.run_id] += len(baseline.tasks)
    with duckdb.connect(str(database), read_only=True) as connection:
        known = changes.baseline_places if _has_table(connection, "dim_runs") else frozenset()
        for place in known:
            runs = _runs_at(connection, place)
            families |= {*runs, *(family for of_run in runs.values() for family in of_run)}
            for baseline in changes.baselines:
                if baseline.place == place and baseline.run.run_id in changes.new_baselines:
                    n_tasks.update(dict.fromkeys(runs, len(baseline.tasks)))
    return FrozenWork(frozenset(families), n_tasks)


def read_baselines(connection: DuckDBPyConnection) -> frozenset[tuple[str, str | None, Place]]:
    """The frozen baselines that a warehouse was made with: id, file, place."""
    if not _has_table(connection, "dim_baselines"):
        return frozenset()
    found = connection.execute(
        "select baseline_run_id, file, dataset, edition, split from dim_baselines"
    ).fetchall()
    return frozenset(
        (run_id, file, (dataset, edition, split)) for run_id, file, dataset, edition, split in found
    )


def _runs_at(connection: DuckDBPyConnection, place: Place) -> dict[str, list[str]]:
    """Families per run, which may have none."""
    dataset, edition, split = map(sql_literal, place)
    found = connection.execute(
        "select run_id, list(family) filter (where family is not null) "
        "from (select run_id from dim_runs "
        f"where dataset = {dataset} and edition = {edition} and split = {split}) "
        "left join (select run_id, family from dim_run_families) using (run_id) group by run_id"
    ).fetchall()
    return {run_id: families or [] for run_id, families in found}


def _record(baseline: Baseline) -> dict[str, object]:
    frozen = baseline.record
    return {
        "baseline_run_id": baseline.run.run_id,
        "run_id": frozen.run_id,
        "file": baseline.file,
        "sha256": baseline.sha256,
        "arm_hash": baseline.arm_hash,
        "arm_label": frozen.arm_label,
        "system": baseline.system,
        "system_version": baseline.system_version,
        "dataset": frozen.dataset,
        "edition": frozen.edition,
        "split": frozen.split,
        "primary_metric": frozen.primary_metric,
        "depth": frozen.depth,
        "n_tasks": len(baseline.tasks),
        "status": frozen.status,
        "suspect_reason": baseline.suspect_reason,
        "started_at": _utc(frozen.started_at),
        "relevance_rules": baseline.relevance_rules,
        "evalake_version": baseline.evalake_version,
    }


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def _insert(connection: DuckDBPyConnection, table: str, rows: object) -> None:
    connection.register("incoming", rows)
    connection.execute(f"insert into {table} by name select * from incoming")
    connection.unregister("incoming")


def _has_table(connection: DuckDBPyConnection, name: str) -> bool:
    found = connection.execute(
        f"select count(*) from duckdb_tables() where table_name = {sql_literal(name)}"
    ).fetchone()
    return bool(found and found[0])
