"""The models' compiled SQL, to run on any data without dbt around it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import duckdb

from evalake_warehouse.build.baseline_tables import EMPTY_FROZEN
from evalake_warehouse.build.batches import row_counts
from evalake_warehouse.build.dbt_runner import run_dbt
from evalake_warehouse.build.inputs import LEFT_IN_PARQUET, hit_counts_sql
from evalake_warehouse.build.judgement_tables import EMPTY_JUDGEMENTS
from evalake_warehouse.build.lost_texts import lost_texts_sql
from evalake_warehouse.lake.reader import LakeFile, LakeListing, relation_sql
from evalake_warehouse.lake.schemas import TABLES
from evalake_warehouse.project import Project


@dataclass(frozen=True, slots=True)
class CompiledModels:
    """SQL of every SQL model, in an order that respects their references."""

    sql: dict[str, str]
    depends_on: dict[str, tuple[str, ...]]
    database: dict[str, str]  # that the model is made in: warehouse or work
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
    models = [
        node for node in nodes if node["resource_type"] == "model" and node["language"] == "sql"
    ]
    seeds = [node for node in nodes if node["resource_type"] == "seed"]
    return CompiledModels(
        sql={node["name"]: node["compiled_code"] for node in models},
        depends_on={
            node["name"]: tuple(
                key.rsplit(".", 1)[-1]
                for key in node["depends_on"]["nodes"]
                if "source." not in key
            )
            for node in models
        },
        database={node["name"]: node["database"] for node in models},
        seeds={node["name"]: project.dbt_project / node["original_file_path"] for node in seeds},
    )


def lake_statements(
    models: CompiledModels, files: dict[str, list[Path]], run_ids: list[str]
) -> list[str]:
    """What a build lays out before dbt: the lake, the work list and the seeds."""
    statements = [
        "attach ':memory:' as warehouse",
        "attach ':memory:' as work",
        "use work",
        "set preserve_insertion_order = false",  # as in profiles.yml
        "create schema lake",
        "create schema build",
    ]
    for table in TABLES:
        kind = "view" if table in LEFT_IN_PARQUET else "table"
        sql = relation_sql(table, files.get(table, []))
        statements.append(f"create {kind} lake.{table} as {sql}")
    ids = ", ".join(f"'{run_id}'" for run_id in run_ids)
    statements.append(f"create table build.changed_runs as select unnest([{ids}]) as run_id")
    hits = tuple(LakeFile("hits", path, "", path.stem, 0) for path in files.get("hits", []))
    counts = row_counts(LakeListing(hits), "hits", run_ids)
    statements.append(hit_counts_sql({run_id: counts[run_id] for run_id in run_ids}))
    statements += EMPTY_JUDGEMENTS
    statements.append(
        "insert into build.judgements by name "
        "select distinct run_id, edition, n_tasks from lake.runs"
    )
    statements.append(lost_texts_sql(()))
    statements.append("create table build.changed_families (family varchar)")
    statements += EMPTY_FROZEN
    statements.append("use warehouse")
    for name, path in models.seeds.items():
        statements.append(f"create table {name} as select * from read_csv('{path}', header = true)")
    return statements


def model_statements(models: CompiledModels, *names: str) -> list[str]:
    """The named models and what they need: staging as views, the rest as tables."""
    return [
        f"create or replace {'view' if name.startswith('stg_') else 'table'} "
        f"{models.database[name]}.main.{name} as {models.sql[name]}"
        for name in models.needed_by(*names)
    ]


def open_lake(
    models: CompiledModels, files: dict[str, list[Path]], run_ids: list[str]
) -> duckdb.DuckDBPyConnection:
    """An in-memory warehouse whose lake is the given files, and whose seeds are loaded."""
    connection = duckdb.connect()
    for statement in lake_statements(models, files, run_ids):
        connection.execute(statement)
    return connection


def run_models(connection: duckdb.DuckDBPyConnection, models: CompiledModels, *names: str) -> None:
    """Materialize the named models and what they need."""
    for statement in model_statements(models, *names):
        connection.execute(statement)


def lake_files(home: Path) -> dict[str, list[Path]]:
    """Every data file of a lake, per table."""
    files: dict[str, list[Path]] = {}
    for path in sorted((home / "lake").rglob("*.parquet")):
        if path.stem != "_schema":
            files.setdefault(path.relative_to(home / "lake").parts[0], []).append(path)
    return files
