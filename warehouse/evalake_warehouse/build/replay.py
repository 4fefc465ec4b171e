"""Run kept statements on the build's files: what dbt does, without dbt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import yaml

from evalake_warehouse.build.inputs import work_file
from evalake_warehouse.build.kept_statements import Statement
from evalake_warehouse.errors import BuildError
from evalake_warehouse.lake.reader import sql_literal
from evalake_warehouse.project import Project

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def replay(
    project: Project,
    database: Path,
    statements: Sequence[Statement],
    *,
    seeds: bool,
    on_node: Callable[[str], None],
) -> None:
    """Run every statement in order, in one connection that is closed when this returns.

    Args:
        seeds: load the seeds too.

    Raises:
        BuildError: a model failed, or, after all models, the tests that did.
    """
    failed = []
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"attach {sql_literal(str(work_file(database)))} as work")
        for name, value in _settings(project).items():
            connection.execute(f"set {name} = {sql_literal(str(value))}")
        for statement in statements:
            if statement.kind == "seed" and not seeds:
                continue
            try:
                n_failures = _run(connection, project, statement)
            except duckdb.Error as error:
                failed.append(f"{statement.kind} {statement.name}: {error}")
                break
            if n_failures:
                failed.append(f"test {statement.name}: {n_failures} rows fail it")
            on_node(statement.name)
    if failed:
        raise BuildError("\n".join(failed), hint="evalake build --full --with-dbt")


def _run(connection: DuckDBPyConnection, project: Project, statement: Statement) -> int:
    """Run one statement; how many rows fail it, if it is a test."""
    relation, sql = statement.relation, statement.sql
    match statement.materialized:
        case "test":
            [n_failures] = connection.execute(f"select count(*) from ({sql}\n)").fetchone() or [0]
            return int(n_failures)
        case "view":
            connection.execute(f"create or replace view {relation} as ({sql}\n)")
        case "seed":
            file = sql_literal(str(project.dbt_project / (statement.file or "")))
            connection.execute(f"create or replace table {relation} {statement.columns}")
            connection.execute(
                f"insert into {relation} by name "
                f"select * from read_csv({file}, header = true, all_varchar = true)"
            )
        case "incremental" if _exists(connection, relation):
            connection.execute(f"insert into {relation} by name ({sql}\n)")
        case "table" if sql is None:
            _compute_intervals(connection, statement)
        case _ if statement.columns is not None:
            connection.execute(f"create or replace table {relation} {statement.columns}")
            connection.execute(f"insert into {relation} by name ({sql}\n)")
        case _:
            connection.execute(f"create or replace table {relation} as ({sql}\n)")
    return 0


def _compute_intervals(connection: DuckDBPyConnection, statement: Statement) -> None:
    from evalake_warehouse.statistics.relation import configured_intervals

    series = connection.sql("select * from work.main.int_series")
    connection.register("computed", configured_intervals(series, statement.meta))
    connection.execute(f"create or replace table {statement.relation} as from computed")
    connection.unregister("computed")


def _exists(connection: DuckDBPyConnection, relation: str) -> bool:
    place = [part.strip('"') for part in relation.split(".")]
    found = connection.execute(
        "select 1 from duckdb_tables() where [database_name, schema_name, table_name] = "
        f"[{', '.join(map(sql_literal, place))}]"
    ).fetchone()
    return found is not None


def declared_columns(database: Path) -> dict[str, str]:
    """Columns and constraints of each table of a warehouse, as DDL in parentheses, by name."""
    with duckdb.connect(str(database), read_only=True) as connection:
        tables = connection.execute("select table_name, sql from duckdb_tables()").fetchall()
    return {name: sql[sql.index("(") :].rstrip().rstrip(";") for name, sql in tables}


def _settings(project: Project) -> dict[str, object]:
    """DuckDB's settings for a build, from the one place that dbt reads them too."""
    profiles = yaml.safe_load((project.dbt_project / "profiles.yml").read_text(encoding="utf-8"))
    settings: dict[str, object] = profiles["evalake"]["outputs"]["build"]["settings"]
    return settings
