"""What dbt finds in the build's files: the lake and work lists in one that is thrown away when the
build ends, and in the other the warehouse, with what it was made from."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from evalake_warehouse.build.baseline_tables import forget_baselines, lay_baselines, read_baselines
from evalake_warehouse.build.batches import Batch
from evalake_warehouse.build.freshness import Changes, Member, RunState, WarehouseState
from evalake_warehouse.build.judgement_tables import lay_judgements
from evalake_warehouse.build.lost_texts import lost_texts_sql
from evalake_warehouse.lake.reader import LakeListing, quoted, relation_sql, sql_literal
from evalake_warehouse.lake.schemas import TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_STATE_TABLE = "int_build_state"
_STATE_COLUMNS = tuple(field.name for field in fields(RunState))
_META_TABLE = "meta_build"
# Big, and read by nothing that judges.
_NOT_FOR_MODELS = {"texts", "corpus_files", "corpus_symbols"}
_PER_DATASET = {"text_scores", "text_fingerprints"}
# Read once and by few: left in their Parquet files. The rest is small, read by many models, and
# spread over many small files, each of which costs more to open than to hold.
_LEFT_IN_PARQUET = {"hits", "timings", "text_scores", "text_fingerprints"}


def read_state(database: Path | None) -> WarehouseState:
    """What a built warehouse was made from."""
    if database is None:
        return WarehouseState()
    with duckdb.connect(str(database), read_only=True) as connection:
        if _STATE_TABLE not in _tables_with(connection, *_STATE_COLUMNS):
            return WarehouseState()  # of another evalake: nothing of it can be kept
        states = connection.execute(
            f"select {', '.join(_STATE_COLUMNS)} from {_STATE_TABLE}"
        ).fetchall()
        meta = connection.execute(
            f"select datasets_hash, code_hash from {_META_TABLE} order by build_id desc limit 1"
        ).fetchone()
        members = []
        if "dim_run_families" in _tables_with(connection, "family"):
            members = connection.execute(
                "select run_id, family, role from dim_run_families"
            ).fetchall()
        baselines = read_baselines(connection)
    datasets_hash, code_hash = meta or (None, None)
    return WarehouseState(
        {row[0]: RunState(*row) for row in states},
        frozenset(Member(*row) for row in members),
        datasets_hash,
        code_hash,
        baselines,
    )


def read_variables(database: Path | None) -> dict[str, Any]:
    """The variables that a warehouse was built with; none for none."""
    if database is None:
        return {}
    with duckdb.connect(str(database), read_only=True) as connection:
        meta = connection.execute(
            f"select vars_json from {_META_TABLE} order by build_id desc limit 1"
        ).fetchone()
    variables: dict[str, Any] = json.loads(meta[0]) if meta else {}
    return variables


def work_file(database: Path) -> Path:
    """The file of a build's temporary tables, which dbt knows as the database `work`."""
    return database.with_name("work.duckdb")


def prepare(database: Path, listing: LakeListing, changes: Changes) -> None:
    """Delete rows of changed runs, and lay out the lake tables that every batch reads."""
    with duckdb.connect(str(database)) as connection:
        for column in ("run_id", "baseline_run_id", "candidate_run_id") if changes.stale else ():
            for table in _tables_with(connection, column) - {_STATE_TABLE}:
                _delete(connection, table, column, changes.stale)
        if changes.had_baselines:
            forget_baselines(connection, changes)
    with duckdb.connect(str(work_file(database))) as connection:
        lay_lake(connection, listing, changes)


def lay_batch(
    database: Path,
    listing: LakeListing,
    changes: Changes,
    batch: Batch,
    *,
    lost_texts: Collection[str] = (),
) -> set[str]:
    """Lay out a batch's runs and work lists, and take out the tests that it makes anew.

    Args:
        lost_texts: datasets of which a text is gone from the lake.

    Returns:
        Runs of the batch with a list that cannot be judged without such a text.
    """
    with duckdb.connect(str(work_file(database))) as connection:
        lay_runs(connection, listing, changes, batch, lost_texts=lost_texts)
        unread = connection.execute("select distinct run_id from build.lost_texts").fetchall()
        _lay_measured_pairs(connection, database)
    if batch.families:
        with duckdb.connect(str(database)) as connection:
            for table in _tables_with(connection, "family", "candidate_run_id"):
                _delete(connection, table, "family", batch.families)
    return {run_id for (run_id,) in unread}


def lay_lake(connection: DuckDBPyConnection, listing: LakeListing, changes: Changes) -> None:
    """Lay out what every batch reads: schemas `lake` and `build` of the connection's database."""
    datasets = {state.dataset for state in changes.changed}
    connection.execute("create schema lake")
    connection.execute("create schema build")
    for name, lake_table in TABLES.items():
        if not lake_table.per_run and name not in _NOT_FOR_MODELS:
            wanted = datasets if name in _PER_DATASET else None
            _lay(connection, name, listing.paths(name, datasets=wanted))
    lay_baselines(connection, changes)


def lay_runs(
    connection: DuckDBPyConnection,
    listing: LakeListing,
    changes: Changes,
    batch: Batch,
    *,
    lost_texts: Collection[str] = (),
) -> None:
    """Lay out a batch's runs and work lists beside what `lay_lake` made."""
    run_ids = set(batch.run_ids)
    for name, lake_table in TABLES.items():
        if lake_table.per_run and name not in _NOT_FOR_MODELS:
            files = listing.by_table[name]
            _lay(connection, name, [file.path for file in files if file.owner in run_ids])
    _create_keys(connection, "changed_runs", "run_id", batch.run_ids)
    lay_judgements(connection, changes, run_ids)
    connection.execute(_hit_counts_sql(batch.hit_counts))
    connection.execute(lost_texts_sql(lost_texts))
    _create_keys(connection, "changed_families", "family", batch.families)
    _create_keys(connection, "candidates", "run_id", batch.candidates)


def finish(
    database: Path, changes: Changes, *, unread: Collection[str], meta: Mapping[str, Any]
) -> dict[str, int]:
    """Record what the warehouse was made from, and count the marts' rows.

    Args:
        unread: runs to judge again next time, when the texts that they miss may be back.
    """
    with duckdb.connect(str(database)) as connection:
        _write_state(connection, changes, unread)
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


def _hit_counts_sql(counts: Mapping[str, int]) -> str:
    """A statement that makes `build.hit_counts`: hits in the lake per run."""
    rows = ", ".join(f"({sql_literal(run_id)}, {count})" for run_id, count in counts.items())
    return (
        "create or replace table build.hit_counts as "
        "select cast(run_id as varchar) as run_id, cast(n_hits as bigint) as n_hits "
        f"from (values {rows or '(null, null)'}) as counted (run_id, n_hits) "
        "where run_id is not null"
    )


def _lay(connection: DuckDBPyConnection, table: str, paths: Iterable[Path]) -> None:
    kind = "view" if table in _LEFT_IN_PARQUET else "table"
    connection.execute(
        f"create or replace {kind} lake.{quoted(table)} as {relation_sql(table, paths)}"
    )


def _create_keys(
    connection: DuckDBPyConnection, table: str, column: str, keys: Iterable[str]
) -> None:
    # Literals, because DuckDB imports pandas, where it is installed, to bind a parameter.
    listed = _listed(keys)
    connection.execute(
        f"create or replace table build.{table} as "
        f"select unnest(cast([{listed}] as varchar[])) as {column}"
    )


def _lay_measured_pairs(connection: DuckDBPyConnection, database: Path) -> None:
    """Lay out the pairs measured so far, from the table that the models are about to add to."""
    connection.execute(f"attach {sql_literal(str(database))} as built (read_only)")
    known = connection.execute(
        "select 1 from duckdb_tables() "
        "where database_name = 'built' and table_name = 'int_pair_measures'"
    ).fetchone()
    connection.execute(
        "create or replace table build.measured_pairs as "
        + (
            "select distinct baseline_run_id, candidate_run_id from built.int_pair_measures"
            if known
            else "select null::varchar as baseline_run_id, null::varchar as candidate_run_id "
            "where false"
        )
    )
    connection.execute("detach built")


def _delete(connection: DuckDBPyConnection, table: str, column: str, keys: Iterable[str]) -> None:
    # Literals, which zone maps can prune by.
    connection.execute(f"delete from main.{quoted(table)} where {column} in ({_listed(keys)})")


def _listed(keys: Iterable[str]) -> str:
    return ", ".join(sql_literal(key) for key in keys)


def _tables_with(connection: DuckDBPyConnection, *columns: str) -> set[str]:
    """Tables of the warehouse that have all of the columns."""
    found = connection.execute(
        "select table_name from duckdb_columns() "
        f"where not internal and schema_name = 'main' and column_name in ({_listed(columns)}) "
        f"group by table_name having count(*) = {len(columns)}"
    )
    return {name for (name,) in found.fetchall()}


def _write_state(connection: DuckDBPyConnection, changes: Changes, unread: Collection[str]) -> None:
    import pyarrow as pa

    found = [
        replace(state, input_hash="") if state.run_id in unread else state
        for state in changes.states
    ]
    kinds = {
        field.name: pa.int64() if field.type == "int" else pa.string() for field in fields(RunState)
    }
    states = pa.table(
        {
            name: pa.array([getattr(state, name) for state in found], kind)
            for name, kind in kinds.items()
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
        "n_changed_runs": len(changes.changed),
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
