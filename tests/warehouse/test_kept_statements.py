"""A build without dbt makes the very tables that dbt makes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from lake_factory import RunWriter, docs, write_dataset

from evalake_warehouse.build.kept_statements import KeptStatements
from evalake_warehouse.build.protocol import build
from evalake_warehouse.build.settings import BuildSettings
from evalake_warehouse.errors import BuildError
from evalake_warehouse.project import Project
from evalake_warehouse.questions.warehouse_files import warehouse_link

pytestmark = pytest.mark.dbt
EDITION = "e1"


@pytest.fixture
def lake(project: Project) -> Project:
    """A family of three runs, failures among them."""
    write_dataset(project.home, {f"t{n}": {"a": 1, "b": 2} for n in range(12)}, edition=EDITION)
    for label, role in (("one", "baseline"), ("two", "candidate"), ("three", "candidate")):
        add_run(project, label, role)
    return project


@pytest.fixture
def own(lake: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The lake, built, whose cache no other test reads; it has one file of statements."""
    build(lake)
    cache = tmp_path / "cache"
    name = KeptStatements(lake, BuildSettings(), ()).file.name
    (cache / "statements").mkdir(parents=True)
    shutil.copy(lake.cache / "statements" / name, cache / "statements")
    monkeypatch.setenv("EVALAKE_CACHE", str(cache))
    return Project(home=lake.home, data_dir=lake.data_dir)


def add_run(project: Project, label: str, role: str) -> None:
    run = RunWriter(project.home, EDITION, arm_label=label)
    run.event("started", n_tasks=12, family="f", role=role, primary_metric="recall@10")
    answers: dict[str, Any] = {f"t{n}": docs("a", "x") if n % 3 else "error" for n in range(11)}
    run.attempts(answers | {"t11": docs(label[0], "b")})
    run.event("finished", n_tasks=12, status="finished")


def tables(project: Project) -> dict[str, Any]:
    """Columns, constraints and rows of every table of the warehouse but the builds' own."""
    with duckdb.connect(str(warehouse_link(project, None)), read_only=True) as connection:
        declared = connection.execute("select table_name, sql from duckdb_tables()").fetchall()
        return {
            table: (ddl, connection.execute(f"from {table} order by all").fetchall())
            for table, ddl in declared
            if table != "meta_build"
        }


def statements(kept: bytes) -> dict[str, Any]:
    """By name: dbt takes models that do not read each other in any order."""
    return {row["name"]: row for row in json.loads(kept)["statements"]}


def kept_files(project: Project) -> list[Path]:
    return sorted((project.cache / "statements").glob("*.json"))


def test_replayed_builds_make_the_tables_that_dbt_makes(lake: Project) -> None:
    build(lake, with_dbt=True)
    by_dbt = tables(lake)
    build(lake, full=True)
    assert tables(lake) == by_dbt
    # One more run, on top of what is there: rows are added to tables that exist.
    add_run(lake, "four", "candidate")
    build(lake)
    added = tables(lake)
    build(lake, full=True, with_dbt=True)
    assert added == tables(lake)
    assert len(added["dim_runs"][1]) == 4


def test_dbt_is_not_imported_when_its_statements_are_kept(lake: Project) -> None:
    build(lake)
    script = (
        "import sys; from pathlib import Path; from evalake_warehouse.build.protocol import build; "
        "from evalake_warehouse.project import Project; "
        f"build(Project(home=Path({str(lake.home)!r}), data_dir=Path({str(lake.data_dir)!r})), "
        "full=True); print(sorted(name for name in sys.modules if name.split('.')[0] == 'dbt'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_other_variables_are_for_dbt_again(own: Project) -> None:
    build(own, settings=BuildSettings(margin=0.5), scenario="wide")
    assert len(kept_files(own)) == 2


def test_damaged_statements_are_for_dbt_again(own: Project) -> None:
    before = tables(own)
    [kept] = kept_files(own)
    whole = kept.read_bytes()
    reader = KeptStatements(own, BuildSettings(), ())
    assert reader.read()
    for damaged in (whole[:100], whole.replace(b'"kind":"model"', b'"sort":"model"'), b""):
        kept.write_bytes(damaged)
        assert reader.read() is None
    build(own, full=True)
    assert tables(own) == before
    assert statements(kept.read_bytes()) == statements(whole)


def test_a_statement_or_a_test_that_fails_leaves_the_warehouse_as_it_was(own: Project) -> None:
    before = tables(own)
    [kept] = kept_files(own)
    whole = kept.read_text()
    kept.write_text(whole.replace("count(*) as n_common_lists", "nonsense(*) as n_common_lists"))
    with pytest.raises(BuildError, match=r"model int_pair_lists: Catalog Error") as failed:
        build(own, full=True)
    assert failed.value.hint == "evalake build --full --with-dbt"
    kept.write_text(whole.replace("having count(*) > 1", "having count(*) > 0"))
    with pytest.raises(BuildError, match=r"test unique_grain_dim_run_editions\S*: 3 rows fail it"):
        build(own, full=True)
    assert tables(own) == before
