"""A build in many batches makes what one batch makes, table for table."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from lake_factory import RunWriter, docs, write_dataset

from evalake_warehouse.build import batches, build
from evalake_warehouse.build.batches import Batch, plan_batches
from evalake_warehouse.build.freshness import Member, WarehouseState, find_changes
from evalake_warehouse.build.settings import BuildSettings
from evalake_warehouse.lake.reader import list_lake
from evalake_warehouse.project import Project
from evalake_warehouse.questions.warehouse_files import current_file

TASKS = [f"t{number}" for number in range(12)]
LABELS = {task: {"stratum": f"s{i % 3}", "qa_type": "how"} for i, task in enumerate(TASKS)}
A_RUN = len(TASKS) * 31  # rows: a hit and thirty scores for each of its tasks


def write_run(project: Project, edition: str, n_found: int, *events: dict[str, object]) -> str:
    """A run that has the right document first for so many tasks; a `started` event, then others."""
    label = str(events[0].get("system", f"arm {n_found}"))
    run = RunWriter(project.home, edition, arm_label=label)
    run.event("started", n_tasks=len(TASKS), **events[0])
    run.attempts(
        {task: docs("right" if i < n_found else "wrong") for i, task in enumerate(TASKS)}
        | ({"t11": "error"} if n_found == 5 else {})
    )
    run.event("finished", n_tasks=len(TASKS), status="finished")
    for joined in events[1:]:
        run.event("joined", n_tasks=len(TASKS), **joined)
    return run.run_id


def place(family: str, role: str) -> dict[str, object]:
    return {"family": family, "role": role, "primary_metric": "mrr"}


@pytest.fixture
def runs(project: Project) -> list[str]:
    """Two families that share a run, whose baselines come last, and a control after all others."""
    edition = write_dataset(project.home, {task: {"right": 1} for task in TASKS}, labels=LABELS)
    return [
        write_run(project, edition, 3, place("first", "candidate")),
        write_run(project, edition, 4, place("second", "candidate")),
        write_run(project, edition, 5, place("first", "candidate"), place("second", "candidate")),
        write_run(project, edition, 6, place("first", "candidate")),
        write_run(project, edition, 7, place("second", "baseline")),
        write_run(project, edition, 8, place("first", "baseline"), place("second", "candidate")),
        write_run(project, edition, 1, place("first", "control") | {"system": "random"}),
    ]


def plan(project: Project) -> list[Batch]:
    listing = list_lake(project.home)
    changes = find_changes(project, listing, BuildSettings(), before=WarehouseState())
    return plan_batches(listing, changes, members_before=())


def differences(one: Path, many: Path) -> Iterator[str]:
    """Rows, in every table but the build's own notes, that only one of two warehouses has."""
    with duckdb.connect() as connection:
        connection.execute(
            f"attach '{one}' as one (read_only); attach '{many}' as many (read_only)"
        )
        found = connection.execute(
            "select database_name, table_name from duckdb_tables() where table_name != 'meta_build'"
        ).fetchall()
        tables = {name for database, name in found if database == "one"}
        assert tables == {name for database, name in found if database == "many"}
        assert {"fct_hits", "fct_task_metrics", "fct_paired_tests", "int_pair_measures"} < tables
        for table in sorted(tables):
            for first, second in (("one", "many"), ("many", "one")):
                rows = f"from {first}.{table} except all select * from {second}.{table}"
                for row in connection.execute(f"select * {rows}").fetchall():
                    yield f"only {first} has in {table}: {row}"


def copy_of(project: Project, home: Path) -> Project:
    shutil.copytree(project.home, home, symlinks=True)
    return replace(project, home=home)


@pytest.mark.dbt
def test_many_batches_make_every_table_as_one_batch_does(
    project: Project, runs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = copy_of(project, tmp_path / "other")
    build(project)
    monkeypatch.setattr(batches, "ROWS_PER_BATCH", 2 * A_RUN)
    steps: list[str] = []
    result = build(other, on_step=steps.append)
    assert len(result.changed_runs) == len(runs)
    assert "batch 1/6: building models" in steps  # 7 runs by two, and 5 candidates by two
    assert "batch 6/6: built fct_paired_tests" in steps
    one, many = current_file(project.warehouse), current_file(other.warehouse)
    assert one is not None
    assert many is not None
    assert list(differences(one, many)) == []


@pytest.mark.dbt
def test_a_rebuild_in_batches_replaces_every_row_of_changed_runs(
    project: Project, runs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(project)
    other = copy_of(project, tmp_path / "other")
    # The edition's files change, and with them the input of every run: two tasks lose their gold.
    for home in (project.home, other.home):
        for table in ("gold", "qrels"):
            [path] = (home / "lake" / table).rglob("dataset=toy/**/*.parquet")
            kept = path.with_name("kept.parquet")
            duckdb.execute(
                f"copy (from '{path}' where task_id not in ('t0', 't9')) to '{kept}' "
                "(format parquet)"
            )
            path.unlink()
            kept.rename(path)
    one = build(project, full=True)
    monkeypatch.setattr(batches, "ROWS_PER_BATCH", A_RUN)
    many = build(other)
    assert one.changed_runs == many.changed_runs == tuple(sorted(runs))
    files = current_file(project.warehouse), current_file(other.warehouse)
    assert files[0] is not None
    assert files[1] is not None
    assert list(differences(*files)) == []


def test_a_build_that_fits_is_one_batch_with_all_its_comparisons(
    project: Project, runs: list[str]
) -> None:
    [batch] = plan(project)
    assert sorted(batch.run_ids) == sorted(runs)
    assert batch.families == ("first", "second")
    assert set(batch.candidates) == {*runs[:4], runs[5]}


def test_no_batch_holds_more_than_it_may_and_every_run_and_candidate_is_in_one(
    project: Project, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "ROWS_PER_BATCH", 2 * A_RUN)
    planned = plan(project)
    assert [len(batch.run_ids) for batch in planned] == [2, 2, 2, 1, 0, 0]
    assert planned[0].run_ids[0] == runs[6]  # the control, which others' chance is taken from
    assert [batch.families for batch in planned] == [()] * 3 + [("first", "second")] * 3
    assert sorted(run_id for batch in planned for run_id in batch.run_ids) == sorted(runs)
    candidates = [run_id for batch in planned for run_id in batch.candidates]
    assert sorted(candidates) == sorted([*runs[:4], runs[5]])


def test_a_run_that_is_too_big_for_a_batch_has_one_of_its_own(
    project: Project, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "ROWS_PER_BATCH", 1)
    assert [len(batch.run_ids) for batch in plan(project)][:7] == [1] * 7


def test_unchanged_candidates_weigh_nothing_unless_their_baseline_changed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    edition = write_dataset(project.home, {task: {"right": 1} for task in TASKS})
    added = write_run(project, edition, 3, place("f", "candidate"))
    monkeypatch.setattr(batches, "ROWS_PER_BATCH", A_RUN)
    listing = list_lake(project.home)
    changes = find_changes(project, listing, BuildSettings(), before=WarehouseState())
    known = {Member("base", "f", "baseline"), Member("old", "f", "candidate")}
    [batch] = plan_batches(listing, changes, members_before=known)
    assert set(batch.candidates) == {"old", added}
    write_run(project, edition, 4, place("f", "baseline"))
    listing = list_lake(project.home)
    changes = find_changes(project, listing, BuildSettings(), before=WarehouseState())
    planned = plan_batches(listing, changes, members_before=known)
    assert [len(batch.candidates) for batch in planned] == [0, 1, 1]
