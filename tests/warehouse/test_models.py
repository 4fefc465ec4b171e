"""dbt's own tests: every unit test, and every data test over a small lake."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from lake_factory import RunWriter, docs, write_dataset

from evalake_warehouse.build.batches import plan_batches
from evalake_warehouse.build.dbt_runner import NodeResult, run_dbt
from evalake_warehouse.build.freshness import WarehouseState, find_changes
from evalake_warehouse.build.inputs import lay_batch, prepare
from evalake_warehouse.build.protocol import NOT_BUILT
from evalake_warehouse.build.settings import BuildSettings
from evalake_warehouse.lake.reader import list_lake
from evalake_warehouse.project import Project

MODELS = Path(__file__).parents[2] / "models"


@pytest.fixture
def results(project: Project) -> list[NodeResult]:
    edition = write_dataset(project.home, {"t1": {"a": 1, "b": 2}, "t2": {"c": 1}})
    for label, role in (("one", "baseline"), ("two", "candidate")):
        run = RunWriter(project.home, edition, arm_label=label)
        run.event("started", n_tasks=2, family="f", role=role, primary_metric="recall@10")
        run.attempts({"t1": docs("a", "x"), "t2": "error"})
        run.event("finished", n_tasks=2, status="finished")
    listing = list_lake(project.home)
    changes = find_changes(project, listing, BuildSettings(), before=WarehouseState())
    database = project.home / "build" / "warehouse.duckdb"
    database.parent.mkdir()
    prepare(database, listing, changes)
    [batch] = plan_batches(listing, changes, members_before=())
    lay_batch(database, listing, changes, batch)
    # Unit tests take the types of their inputs from relations that exist.
    run_dbt(project, database, ["seed"])
    run_dbt(project, database, ["run", "--empty"])
    unit = run_dbt(project, database, ["test", "--select", "test_type:unit"])
    return unit + run_dbt(project, database, ["build", *NOT_BUILT])


@pytest.mark.dbt
def test_all_unit_tests_and_data_tests_pass(results: list[NodeResult]) -> None:
    assert {result.status for result in results} <= {"pass", "success"}
    ran = {result.name for result in results if result.kind == "unit_test"}
    assert ran == {test["name"] for test in unit_tests()}


def unit_tests() -> Iterator[dict[str, Any]]:
    """Every unit test that a yml file beside the models declares."""
    for file in MODELS.rglob("*.yml"):
        yield from yaml.safe_load(file.read_text(encoding="utf-8")).get("unit_tests", [])


def test_every_model_with_a_rule_and_every_mart_has_a_unit_test_by_name() -> None:
    rule = re.compile(r"^(?!--).*\b(join|where|qualify|group by|case|coalesce)\b", re.MULTILINE)
    sql = {path: path.read_text(encoding="utf-8") for path in MODELS.rglob("*.sql")}
    wanted = {
        path.stem for path, text in sql.items() if path.parent.name == "marts" or rule.search(text)
    }
    assert wanted - {test["model"] for test in unit_tests()} == set()
