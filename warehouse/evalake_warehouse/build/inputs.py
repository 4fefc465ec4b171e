"""What dbt finds in the build file: the lake, the list of changed runs, and the state tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from evalake_warehouse.build.freshness import Changes, RunState, WarehouseState
from evalake_warehouse.lake.reader import LakeFile, LakeListing, quoted, relation_sql, sql_literal
from evalake_warehouse.lake.schemas import TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_STATE_TABLE = "int_build_state"
_META_TABLE = "meta_build"
# Big, and read by nothing that judges.
_NOT_FOR_MODELS = {"texts", "corpus_files", "corpus_symbols"}
_PER_DATASET = {"text_scores", "text_fingerprints"}
# Read once and by few: left in their Parquet files. The rest is small, read by many models, and
# spread over many small files, each of which costs more to open than to hold.
LEFT_IN_PARQUET = {"hits", "timings", "text_scores", "text_fingerprints"}


def read_state(database: Path | None) -> WarehouseState:
    """What a built warehouse was made from."""
    if database is None:
        return WarehouseState()
    with duckdb.connect(str(database), read_only=True) as connection:
        states = connection.execute(
            f"select run_id, dataset, edition, files_hash, input_hash from {_STATE_TABLE}"
        ).fetchall()
        meta = connection.execute(
            f"select datasets_hash, code_hash from {_META_TABLE} order by built_at desc limit 1"
        ).fetchone()
    runs = {row[0]: RunState(*row) for row in states}
    return WarehouseState(runs, *(meta or ()))


def prepare(database: Path, listing: LakeListing, changes: Changes) -> None:
    """Lay the lake and the work list into the build file."""
    run_ids = set(changes.run_ids)
    datasets = {state.dataset for state in changes.changed}
    with duckdb.connect(str(database)) as connection:
        connection.execute("create schema lake")
        connection.execute("create schema build")
        for name, table in TABLES.items():
            if name in _NOT_FOR_MODELS:
                continue
            if table.per_run:
                paths = [file.path for file in listing.by_table[name] if file.owner in run_ids]
            elif name in _PER_DATASET:
                paths = listing.paths(name, datasets=datasets)
            else:
                paths = listing.paths(name)
            sql = relation_sql(name, paths)
            kind = "view" if name in LEFT_IN_PARQUET else "table"
            connection.execute(f"create {kind} lake.{quoted(name)} as {sql}")
        _create_keys(connection, "changed_runs", "run_id", sorted(run_ids))
        connection.execute(hit_counts_sql(listing.by_table["hits"], run_ids))
        _create_keys(connection, "changed_families", "family", _families(connection, run_ids))


def finish(
    database: Path,
    changes: Changes,
    *,
    working_tables: Iterable[str],
    meta: Mapping[str, Any],
) -> dict[str, int]:
    """Remove what only this build needed, record the state, and count the marts' rows."""
    with duckdb.connect(str(database)) as connection:
        _drop_views(connection)
        for table in working_tables:
            connection.execute(f"drop table {quoted(table)}")
        connection.execute("drop schema lake cascade")
        connection.execute("drop schema build cascade")
        _write_state(connection, changes)
        _write_meta(connection, changes, meta)
        connection.execute("checkpoint")
    with duckdb.connect(str(database), read_only=True) as connection:
        marts = connection.execute(
            "select table_name from duckdb_tables() "
            "where table_name like 'fct_%' or table_name like 'dim_%' order by table_name"
        ).fetchall()
        return {
            name: _scalar(connection, f"select count(*) from {quoted(name)}") for (name,) in marts
        }


def _families(connection: DuckDBPyConnection, run_ids: set[str]) -> list[str]:
    """Families that a changed run is in now, or was in before."""
    sql = "select distinct run_id, family from lake.runs where family is not null"
    known = connection.execute(
        "select count(*) from duckdb_tables() where table_name = 'dim_run_families'"
    ).fetchone()
    if known and known[0]:
        sql += " union select run_id, family from dim_run_families"
    return sorted(
        {family for run_id, family in connection.execute(sql).fetchall() if run_id in run_ids}
    )


def hit_counts_sql(files: Iterable[LakeFile], run_ids: Collection[str]) -> str:
    """A statement that makes `build.hit_counts`: hits in the lake per run, as footers say."""
    import pyarrow.parquet as pq

    counts = dict.fromkeys(run_ids, 0)
    for file in files:
        if file.owner in counts:
            counts[file.owner] += pq.read_metadata(file.path).num_rows
    rows = ", ".join(f"({sql_literal(run_id)}, {count})" for run_id, count in counts.items())
    return (
        "create table build.hit_counts as "
        "select cast(run_id as varchar) as run_id, cast(n_hits as bigint) as n_hits "
        f"from (values {rows or '(null, null)'}) as counted (run_id, n_hits) "
        "where run_id is not null"
    )


def _create_keys(
    connection: DuckDBPyConnection, table: str, column: str, keys: Iterable[str]
) -> None:
    # Literals, because DuckDB imports pandas, where it is installed, to bind a parameter.
    listed = ", ".join(sql_literal(key) for key in keys)
    connection.execute(
        f"create table build.{table} as select unnest(cast([{listed}] as varchar[])) as {column}"
    )


def _drop_views(connection: DuckDBPyConnection) -> None:
    views = connection.execute(
        "select schema_name, view_name from duckdb_views() where not internal"
    ).fetchall()
    for schema, view in views:
        connection.execute(f"drop view if exists {quoted(schema)}.{quoted(view)} cascade")


def _write_state(connection: DuckDBPyConnection, changes: Changes) -> None:
    import pyarrow as pa

    names = ("run_id", "dataset", "edition", "files_hash", "input_hash")
    states = pa.table(
        {
            name: pa.array([getattr(state, name) for state in changes.states], pa.string())
            for name in names
        }
    )
    connection.register("states", states)
    connection.execute(f"create or replace table {_STATE_TABLE} as select * from states")
    connection.unregister("states")


def _write_meta(connection: DuckDBPyConnection, changes: Changes, meta: Mapping[str, Any]) -> None:
    import pyarrow as pa

    row = {
        **meta,
        "built_at": datetime.now(UTC).replace(tzinfo=None),
        "n_runs": len(changes.states),
        "n_changed_runs": len(changes.run_ids),
        "datasets_hash": changes.datasets_hash,
        "code_hash": changes.code_hash,
    }
    connection.execute(
        f"create table if not exists {_META_TABLE} (build_id varchar, built_at timestamp, "
        "scenario varchar, vars_json varchar, relevance_rules varchar, scorer varchar, "
        "evalake_version varchar, dbt_version varchar, duckdb_version varchar, "
        "n_runs bigint, n_changed_runs bigint, n_skipped_files bigint, "
        "datasets_hash varchar, code_hash varchar)"
    )
    connection.register("meta", pa.Table.from_pylist([row]))
    connection.execute(f"insert into {_META_TABLE} by name select * from meta")
    connection.unregister("meta")


def _scalar(connection: DuckDBPyConnection, sql: str) -> int:
    row = connection.execute(sql).fetchone()
    return int(row[0]) if row else 0
