"""The models over any lake, in memory: compiled once by dbt, then run without it.

A lake is laid out as a build lays it out, so what a model says here it says in a build.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalake_warehouse.build.batches import Batch, row_counts
from evalake_warehouse.build.dbt_runner import run_dbt
from evalake_warehouse.build.freshness import WarehouseState, find_changes
from evalake_warehouse.build.inputs import lay_lake, lay_runs
from evalake_warehouse.build.settings import BuildSettings
from evalake_warehouse.lake.reader import list_lake, sql_literal
from evalake_warehouse.project import Project

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class CompiledModels:
    """SQL of every SQL model."""

    data_dir: Path  # of the project
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
    """Compile every model once with dbt, at the default variables."""
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
        data_dir=project.data_dir,
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


def lay_out(connection: DuckDBPyConnection, models: CompiledModels, home: Path) -> None:
    """Make of an empty connection a warehouse to be filled: all runs of a lake, and the seeds.

    Args:
        home: what `EVALAKE_HOME` names; its lake is read and nothing is written.
    """
    listing = list_lake(home)
    changes = find_changes(
        Project(home=home, data_dir=models.data_dir),
        listing,
        BuildSettings(),
        before=WarehouseState(),
    )
    run_ids = tuple(state.run_id for state in changes.changed)
    for statement in (
        "attach ':memory:' as warehouse",
        "attach ':memory:' as work",
        "set preserve_insertion_order = false",  # as in profiles.yml
        "use work",
    ):
        connection.execute(statement)
    lay_lake(connection, listing, changes)
    lay_runs(connection, listing, changes, Batch(run_ids, row_counts(listing, "hits", run_ids)))
    connection.execute("use warehouse")
    for name, path in models.seeds.items():
        connection.execute(
            f"create table {name} as "
            f"select * from read_csv({sql_literal(str(path))}, header = true)"
        )


def run_models(connection: DuckDBPyConnection, models: CompiledModels, *names: str) -> None:
    """Make the named models and what they need: staging as views, the rest as tables."""
    for name in models.needed_by(*names):
        kind = "view" if name.startswith("stg_") else "table"
        connection.execute(
            f"create or replace {kind} {models.database[name]}.main.{name} as {models.sql[name]}"
        )
