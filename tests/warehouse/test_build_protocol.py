"""The build protocol and the freshness rule: each trap once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from filelock import FileLock
from lake_factory import RunWriter, docs, write_dataset

from evalake_cli.main import run_cli
from evalake_warehouse.build import BuildSettings, build
from evalake_warehouse.errors import BuildBusyError, BuildError, UsageError
from evalake_warehouse.project import Project
from evalake_warehouse.questions.open_warehouse import open_warehouse, rows
from evalake_warehouse.questions.warehouse_files import current_file

pytestmark = pytest.mark.dbt

GOLD = {"t1": {"a": 1, "b": 2}, "t2": {"c": 1}, "t3": {"d": 1}}


def write_run(
    project: Project, edition: str, lists: dict[str, object], **fields: object
) -> RunWriter:
    run = RunWriter(project.home, edition, **fields)  # type: ignore[arg-type]
    run.event("started", n_tasks=len(lists))
    run.attempts(lists)  # type: ignore[arg-type]
    run.event("finished", n_tasks=len(lists), status="complete")
    return run


def score(
    project: Project,
    run: RunWriter,
    task: str,
    metric: str = "recall@10",
    scenario: str | None = None,
) -> object:
    with open_warehouse(project, scenario=scenario) as connection:
        found = rows(
            connection,
            "select value from fct_task_metrics where run_id = ? and task_id = ? and metric = ?",
            [run.run_id, task, metric],
        )
    return found[0]["value"] if found else "no row"


def editions(project: Project) -> dict[str, str]:
    """The edition that judges each run."""
    with open_warehouse(project) as connection:
        return {row["run_id"]: row["edition"] for row in rows(connection, "from dim_runs")}


@pytest.fixture
def edition(project: Project) -> str:
    return write_dataset(project.home, GOLD)


def test_a_build_judges_new_runs_and_a_second_one_does_nothing(
    project: Project, edition: str
) -> None:
    run = write_run(project, edition, {"t1": docs("x", "b"), "t2": "error", "t3": docs("x")})
    first = build(project)
    assert first.changed_runs == (run.run_id,)
    assert score(project, run, "t1") == 0.5
    assert score(project, run, "t2") is None
    assert score(project, run, "t3") == 0.0
    before = current_file(project.warehouse)
    assert build(project).build_id is None
    assert current_file(project.warehouse) == before


def test_only_a_late_attempts_run_is_judged_again(project: Project, edition: str) -> None:
    late = write_run(project, edition, {"t1": docs("a"), "t2": "timeout"})
    other = write_run(project, edition, {"t1": docs("a", "b")})
    build(project)
    late.attempts({"t2": docs("c")}, attempt=2)
    assert build(project).changed_runs == (late.run_id,)
    assert score(project, late, "t2") == 1.0
    assert score(project, late, "t1") == 0.5
    assert score(project, other, "t1") == 1.0


def test_an_error_after_an_ok_attempt_does_not_take_its_hits_away(
    project: Project, edition: str
) -> None:
    run = write_run(project, edition, {"t2": docs("c")})
    run.attempts({"t2": "error"}, attempt=2)
    build(project)
    assert score(project, run, "t2") == 1.0


def test_hits_without_an_attempts_row_do_not_count(project: Project, edition: str) -> None:
    run = write_run(project, edition, {"t1": docs("x")})
    hit = {
        "dataset": "toy",
        "run_id": run.run_id,
        "task_id": "t2",
        "attempt": 1,
        "rank": 1,
        "item_id": "c",
        "doc_id": "c",
    }
    run._write("hits", [hit])
    build(project)
    assert score(project, run, "t2") == "no row"


def test_another_gold_judges_the_runs_that_answered_its_questions_and_no_others(
    project: Project, edition: str
) -> None:
    old = write_run(project, edition, {"t1": docs("a")})
    elsewhere = write_dataset(project.home, {"t1": {"a": 1, "b": 1}}, dataset="elsewhere")
    other = write_run(project, elsewhere, {"t1": docs("a")}, dataset="elsewhere")
    build(project)
    mended = write_dataset(project.home, {"t1": {"a": 1}})
    assert build(project).changed_runs == (old.run_id,)
    assert score(project, old, "t1") == 1.0
    assert score(project, other, "t1") == 0.5
    moved = write_dataset(project.home, {"t1": {"a": 1, "c": 1}}, corpus_id="c1")
    run = write_run(project, moved, {"t1": docs("a")})
    assert build(project).changed_runs == (run.run_id,)
    assert score(project, old, "t1") == 1.0
    assert editions(project) == {old.run_id: mended, run.run_id: moved, other.run_id: elsewhere}


def test_a_scenario_judges_by_an_earlier_gold(project: Project, edition: str) -> None:
    run = write_run(project, edition, {"t1": docs("a")})
    write_dataset(project.home, {"t1": {"a": 1}})
    build(project)
    assert score(project, run, "t1") == 1.0
    build(project, settings=BuildSettings(gold=f"toy@{edition[:8]}"), scenario="before")
    assert score(project, run, "t1", scenario="before") == 0.5
    with pytest.raises(UsageError, match="no single edition `zz` of `toy`"):
        build(project, settings=BuildSettings(gold="toy@zz"), scenario="before")


def test_a_run_shows_the_other_editions_that_can_judge_it_and_how(
    project: Project, edition: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(project, edition, {"t1": docs("a")})
    build(project)
    assert run_cli(["runs", "show", run.run_id, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["other_editions"] == []
    assert run_cli(["runs", "show", run.run_id]) == 0
    assert "edition" not in capsys.readouterr().err

    write_dataset(project.home, {"t1": {"a": 1}})
    build(project)
    assert run_cli(["runs", "show", run.run_id, "--json"]) == 0
    (other,) = json.loads(capsys.readouterr().out)["other_editions"]
    assert (other["edition"], other["n_tasks"]) == (edition, 1)
    assert run_cli(["runs", "show", run.run_id]) == 0
    printed = capsys.readouterr()
    assert "other editions that can judge it\n" in printed.out
    command = f"evalake build --gold toy@{edition} --scenario {edition}"
    assert f"judge it by another edition: {command}\n" in printed.err
    assert run_cli(command.split()[1:]) == 0
    assert score(project, run, "t1", scenario=edition) == 0.5


def test_a_deleted_run_leaves_the_marts(project: Project, edition: str) -> None:
    gone = write_run(project, edition, {"t1": docs("a")})
    kept = write_run(project, edition, {"t1": docs("a")})
    build(project)
    for path in project.lake.rglob(f"{gone.run_id}*.parquet"):
        path.unlink()
    result = build(project)
    assert (result.changed_runs, result.removed_runs) == ((), (gone.run_id,))
    assert score(project, gone, "t1") == "no row"
    assert score(project, kept, "t1") == 0.5


def test_a_changed_variable_needs_a_scenario_and_leaves_the_default_alone(
    project: Project, edition: str
) -> None:
    write_run(project, edition, {"t1": docs("a")})
    build(project)
    before = current_file(project.warehouse)
    settings = BuildSettings(text_threshold=75)
    with pytest.raises(UsageError, match="needs a scenario"):
        build(project, settings=settings)
    result = build(project, settings=settings, scenario="t75")
    assert len(result.changed_runs) == 1
    assert current_file(project.warehouse) == before
    with open_warehouse(project, scenario="t75") as connection:
        stored = rows(connection, "select vars_json from meta_build")
    assert '"text_threshold":75.0' in stored[0]["vars_json"]
    assert build(project, settings=settings, scenario="t75").build_id is None
    assert (
        len(build(project, settings=BuildSettings(text_threshold=70), scenario="t75").changed_runs)
        == 1
    )


def test_a_build_of_some_models_makes_no_others_and_the_next_one_makes_all(
    project: Project, edition: str
) -> None:
    run = write_run(project, edition, {"t1": docs("a")})
    some = build(project, models=["+fct_task_metrics"])
    assert list(some.rows) == ["fct_task_metrics"]
    assert score(project, run, "t1") == 0.5
    assert build(project, models=["+fct_task_metrics"]).build_id is None
    whole = build(project)
    assert whole.changed_runs == (run.run_id,)
    assert {"dim_runs", "fct_run_metrics", "fct_task_metrics"} < set(whole.rows)


def test_a_broken_model_fails_no_build_that_leaves_it_out(
    project: Project, edition: str, tmp_path: Path
) -> None:
    copied = replace(project, data_dir=tmp_path / "copied")
    for folder in (project.models, project.dbt_project):
        inside = copied.data_dir / folder.relative_to(project.data_dir)
        shutil.copytree(folder, inside)
    (copied.models / "marts" / "fct_run_metrics.sql").write_text("select no_such_column")
    run = write_run(copied, edition, {"t1": docs("a")})
    build(copied, models=["+fct_task_metrics"])
    assert score(copied, run, "t1") == 0.5
    with pytest.raises(BuildError, match="fct_run_metrics"):
        build(copied)


def test_a_reader_keeps_its_rows_while_builds_go_on(project: Project, edition: str) -> None:
    run = write_run(project, edition, {"t1": docs("a")})
    build(project)
    reader = open_warehouse(project)
    for label in ("x", "y", "z"):
        write_run(project, edition, {"t1": docs("a")}, arm_label=label)
        build(project)
    found = rows(reader, "select run_id from dim_runs")
    assert found == [{"run_id": run.run_id}]
    reader.close()
    assert len(list(project.home.glob("warehouse-*.duckdb"))) == 2


def test_a_second_build_waits_for_the_first(project: Project, edition: str) -> None:
    write_run(project, edition, {"t1": docs("a")})
    lock = FileLock(project.home / "build.lock", thread_local=False)
    lock.acquire()
    threading.Timer(1.0, lambda: lock.release(force=True)).start()
    assert build(project, wait_s=30).n_runs == 1


def test_a_second_build_that_waited_in_vain_is_busy(project: Project, edition: str) -> None:
    with (
        FileLock(project.home / "build.lock"),
        pytest.raises(BuildBusyError, match="another build"),
    ):
        build(project, wait_s=0.2)
    assert BuildBusyError("x").exit_code == 2


def test_a_build_killed_half_way_leaves_the_warehouse_and_the_next_one_works(
    project: Project, edition: str
) -> None:
    run = write_run(project, edition, {"t1": docs("a")})
    build(project)
    before = current_file(project.warehouse)
    late = write_run(project, edition, {"t1": docs("a", "b")})
    script = (
        "import sys; from pathlib import Path; from evalake_warehouse.project import Project\n"
        "from evalake_warehouse.build import build\n"
        "project = Project(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "build(project, on_step=lambda s: print(s, flush=True))"
    )
    command = [sys.executable, "-c", script, str(project.home), str(project.data_dir)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("built fct_task_metrics"):
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert process.returncode == -signal.SIGKILL
    assert current_file(project.warehouse) == before
    assert score(project, run, "t1") == 0.5
    build(project)
    assert score(project, late, "t1") == 1.0


def test_the_swapped_file_is_whole_on_its_own(
    project: Project, edition: str, tmp_path: Path
) -> None:
    write_run(project, edition, {"t1": docs("a")})
    build(project)
    file = current_file(project.warehouse)
    assert file is not None
    assert not list(project.home.rglob("*.wal"))
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(file.read_bytes())
    with duckdb.connect(str(copy), read_only=True) as connection:
        assert connection.execute("select count(*) from fct_hits").fetchone() == (1,)
        views = connection.execute(
            "select count(*) from duckdb_views() where not internal"
        ).fetchone()
        assert views == (0,)
        kinds = connection.execute(
            "select distinct data_type from duckdb_columns() "
            "where table_name like 'fct_%' or table_name like 'dim_%'"
        ).fetchall()
    assert {kind for (kind,) in kinds} <= {"BIGINT", "DOUBLE", "VARCHAR", "BOOLEAN", "TIMESTAMP"}


def test_what_a_build_alone_needs_is_gone_when_it_ends(project: Project, edition: str) -> None:
    write_run(project, edition, {"t1": docs("a")})
    build(project)
    assert not list((project.home / "build").iterdir())
    with open_warehouse(project) as connection:
        found = rows(
            connection,
            "select table_name from duckdb_tables() where database_name = 'warehouse' "
            "and table_name not like 'fct_%' and table_name not like 'dim_%'",
        )
    assert {row["table_name"] for row in found} == {
        "int_build_state",
        "int_hit_matches",
        "int_pair_measures",
        "library_aliases",
        "meta_build",
        "metric_definitions",
    }


def test_a_model_that_fails_leaves_the_warehouse_as_it_was(project: Project, edition: str) -> None:
    run = write_run(project, edition, {"t1": docs("a")})
    build(project)
    before = current_file(project.warehouse)
    broken = write_run(project, edition, {"t1": docs("a")})
    # The same rank twice: the data test on the changed run must stop the build.
    row = {
        "dataset": "toy",
        "run_id": broken.run_id,
        "task_id": "t1",
        "attempt": 1,
        "rank": 1,
        "item_id": "z",
    }
    broken._write("hits", [row])
    with pytest.raises(BuildError, match="unique_grain_fct_hits"):
        build(project)
    assert current_file(project.warehouse) == before
    assert score(project, run, "t1") == 0.5


def test_a_pointer_file_serves_where_links_are_impossible(
    project: Project, edition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    run = write_run(project, edition, {"t1": docs("a")})
    build(project)
    assert not project.warehouse.is_symlink()
    assert score(project, run, "t1") == 0.5
