"""The models' compiled SQL, to run on any data without dbt around it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import duckdb

from evalake_warehouse.build.dbt_runner import run_dbt
from evalake_warehouse.lake.reader import relation_sql
from evalake_warehouse.lake.schemas import TABLES
from evalake_warehouse.project import Project


@dataclass(frozen=True, slots=True)
class CompiledModels:
    """SQL of every SQL model, in an order that respects their references."""

    sql: dict[str, str]
    depends_on: dict[str, tuple[str, ...]]
    seeds: dict[str, Path]

    def needed_by(self, *names: str) -> list[str]:
        """The named models and all that they read, inputs first."""
        ordered: list[str] = []

        def visit(name: str) -> None:
            if name in self.sql and name not in ordered:
                for upstream in self.depends_on[name]:
                    visit(upstream)
                ordered.append(name)

        for name in names:
            visit(name)
        return ordered


def compile_models(project: Project) -> CompiledModels:
    """Compile every model once with dbt."""
    database = project.home / "build" / "warehouse.duckdb"
    database.parent.mkdir(parents=True, exist_ok=True)
    run_dbt(project, database, ["--write-json", "compile"])
    manifest = json.loads((project.home / "dbt" / "target" / "manifest.json").read_bytes())
    nodes = manifest["nodes"].values()
    models = [node for node in nodes if node["resource_type"] == "model" and node["language"] == "sql"]
    seeds = [node for node in nodes if node["resource_type"] == "seed"]
    return CompiledModels(
        sql={node["name"]: node["compiled_code"] for node in models},
        depends_on={
            node["name"]: tuple(
                key.rsplit(".", 1)[-1] for key in node["depends_on"]["nodes"] if "source." not in key
            )
            for node in models
        },
        seeds={node["name"]: project.dbt_project / node["original_file_path"] for node in seeds},
    )


def open_lake(
    models: CompiledModels, files: dict[str, list[Path]], run_ids: list[str]
) -> duckdb.DuckDBPyConnection:
    """An in-memory warehouse whose lake is the given files, and whose seeds are loaded."""
    connection = duckdb.connect()
    connection.execute("attach ':memory:' as warehouse")
    connection.execute("use warehouse")
    connection.execute("create schema lake")
    connection.execute("create schema build")
    for table in TABLES:
        sql = relation_sql(table, files.get(table, []))
        connection.execute(f"create view lake.{table} as {sql}")
    connection.execute("create table build.changed_runs (run_id varchar)")
    connection.executemany("insert into build.changed_runs values (?)", [[run] for run in run_ids])
    connection.execute("create table build.changed_families (family varchar)")
    for name, path in models.seeds.items():
        connection.execute(
            f"create table {name} as select * from read_csv('{path}', header = true)"
        )
    return connection


def run_models(connection: duckdb.DuckDBPyConnection, models: CompiledModels, *names: str) -> None:
    """Materialize the named models and what they need: staging as views, the rest as tables."""
    for name in models.needed_by(*names):
        kind = "view" if name.startswith("stg_") else "table"
        connection.execute(f"create or replace {kind} main.{name} as {models.sql[name]}")
