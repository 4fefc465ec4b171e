"""`datasets remove`: what goes, what stays, and what a kill or another process does to it."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from driving import arm, run
from toy import ToyCorpus, evalake, ingest_toy, rows, toy_files

from evalake_cli.main import run_cli
from evalake_ingest.removal import plan_removal, remove
from evalake_runners.engine.indexes import list_indexes
from evalake_runners.engine.locks import cell_lock_file, try_lock
from evalake_runners.engine.removing import remove_now
from evalake_runners.workers.run_log import log_file
from evalake_warehouse.errors import UsageError
from evalake_warehouse.lake.reader import list_lake
from evalake_warehouse.project import Project


@pytest.fixture
def two(toy: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """`toy` with its own corpus and `other` with another one, a run on each, with looks."""
    monkeypatch.setenv("EVALAKE_HOME", str(toy.home))
    monkeypatch.setenv("EVALAKE_PROJECT_DIR", str(toy.data_dir))
    ingest_toy(toy, name="other", corpora=[ToyCorpus({**toy_files(), "more.py": b"x = 1\n"})])
    run(toy, arm(label="one"))
    run(toy, arm(label="two"), dataset="other")
    return toy


def snapshot(home: Path, dataset: str) -> dict[str, bytes]:
    lake = home / "lake"
    files = lake.glob(f"*/dataset={dataset}/run_date=*/*")
    return {str(file.relative_to(lake)): file.read_bytes() for file in files}


def without_looks(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if not name.startswith("looks/")}


def test_a_dataset_goes_with_its_runs_corpora_and_indexes_and_all_else_stays(two: Project) -> None:
    other, corpora = snapshot(two.home, "other"), set(two.corpora.iterdir())
    looks = rows(two, "looks")
    logs = [log_file(two.home, row["run_id"]) for row in rows(two, "runs")]
    logs[0].parent.mkdir(exist_ok=True)
    for log in logs:
        log.write_text("printed")
    assert {row["dataset"] for row in looks} == {"toy", "other"}
    assert run_cli(["datasets", "remove", "toy", "--yes"]) == 0
    assert without_looks(snapshot(two.home, "toy")) == {}
    assert snapshot(two.home, "other") == other
    assert rows(two, "looks") == looks
    assert {row["dataset"] for row in rows(two, "runs")} == {"other"}
    [gone] = corpora - set(two.corpora.iterdir())
    assert {index.corpus_id for index in list_indexes(two.indexes)} == (
        {folder.name for folder in corpora} - {gone.name}
    )
    kept = {row["run_id"] for row in rows(two, "runs")}
    assert {log.stem for log in logs if log.exists()} == kept
    assert list((two.home / "removed").iterdir()) == []
    assert list_lake(two.home).problems == ()
    ingest_toy(two)  # it can come back
    assert run_cli(["datasets", "show", "toy"]) == 0


def test_what_would_go_is_shown_and_nothing_goes_without_a_yes(
    two: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(two.home, "toy")
    assert run_cli(["datasets", "remove", "toy", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert [line.split()[-1] for line in told.splitlines() if "│" in line][2:4] == ["1", "12"]
    monkeypatch.setattr("sys.argv", ["evalake", "datasets", "remove", "toy"])
    ended = evalake(two, "datasets", "remove", "toy")
    assert ended.code == 2
    assert "nothing was removed" in ended.err
    assert snapshot(two.home, "toy") == before
    command = ended.err.split("hint: ")[1].strip()
    assert shlex.split(command)[-1] == "--yes"


def test_what_is_kept_can_be_put_back(two: Project) -> None:
    before = snapshot(two.home, "toy")
    assert run_cli(["datasets", "remove", "toy", "--yes", "--keep"]) == 0
    [kept] = (two.home / "removed").iterdir()
    assert without_looks(snapshot(two.home, "toy")) == {}
    shutil.copytree(kept, two.home, dirs_exist_ok=True)
    assert snapshot(two.home, "toy") == before


def test_a_dataset_with_torn_files_can_be_removed(two: Project) -> None:
    for table in ("tasks", "attempts", "datasets"):
        file = next((two.lake / table / "dataset=toy").glob("run_date=*/*.parquet"))
        file.write_bytes(b"torn")
    assert run_cli(["datasets", "remove", "toy", "--yes"]) == 0
    assert without_looks(snapshot(two.home, "toy")) == {}


def test_one_edition_goes_with_its_runs_and_what_editions_share_stays(two: Project) -> None:
    [first] = {row["edition"] for row in rows(two, "datasets") if row["dataset"] == "toy"}
    before = snapshot(two.home, "toy")
    ingest_toy(two, n_tasks=11)
    [second] = {row["edition"] for row in rows(two, "datasets") if row["dataset"] == "toy"} - {
        first
    }
    run(two, arm(label="later"))
    assert run_cli(["datasets", "remove", "toy", "--edition", second[:8], "--yes"]) == 0
    after = snapshot(two.home, "toy")
    assert {name: after.get(name) for name in before} == before
    assert {row["edition"] for row in rows(two, "datasets") if row["dataset"] == "toy"} == {first}
    assert {row["arm_label"] for row in rows(two, "runs") if row["dataset"] == "toy"} == {"one"}
    assert (two.corpora / rows(two, "tasks")[0]["corpus_id"] / "corpus.json").exists()


@pytest.mark.parametrize("name", ["ty", "../toy", "*", "toy'", "__schema", "", "t\x1boy"])
def test_a_dataset_that_is_not_there_is_no_reason_to_remove_anything(
    two: Project, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = snapshot(two.home, "*")
    assert run_cli(["datasets", "remove", "--yes", "--", name]) == 2
    told = "no dataset" if name else "error: argument 5: empty"
    assert told in capsys.readouterr().err
    assert snapshot(two.home, "*") == before


@pytest.mark.parametrize("lock", ["cell", "ingest-toy.lock", "build.lock"])
def test_it_waits_for_no_one_and_takes_nothing_from_who_is_at_work(
    two: Project, lock: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = snapshot(two.home, "*")
    file = cell_lock_file(two.home, "a" * 64) if lock == "cell" else two.home / lock
    with try_lock(file) as is_ours:
        assert is_ours
        assert run_cli(["datasets", "remove", "toy", "--yes"]) == 2
    assert "a process is at work here" in capsys.readouterr().err
    assert snapshot(two.home, "*") == before
    assert run_cli(["datasets", "remove", "toy", "--yes"]) == 0


def test_a_sweep_that_begins_meanwhile_has_everything_back(two: Project) -> None:
    before = snapshot(two.home, "*")
    with pytest.raises(UsageError, match="a sweep began meanwhile"):
        remove(two, plan_removal(two, "toy"), keep=False, is_disturbed=lambda: True)
    assert snapshot(two.home, "*") == before
    assert list((two.home / "removed").iterdir()) == []


def test_a_kill_at_any_step_leaves_a_lake_that_is_whole_and_a_removal_that_goes_on(
    two: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = len(plan_removal(two, "toy").files) + len(plan_removal(two, "toy").corpora)
    saved, other = two.home.with_name("saved"), snapshot(two.home, "other")
    shutil.copytree(two.home, saved)
    rename = Path.rename
    for step in range(1, steps + 1):
        count = iter(range(1, steps + 2))

        def killed(self: Path, target: Path, *, step: int = step, count: Any = count) -> Path:
            if next(count) == step:
                raise KeyboardInterrupt
            return rename(self, target)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "rename", killed)
            with pytest.raises(KeyboardInterrupt):
                remove_now(two, plan_removal(two, "toy"), keep=False)
        assert snapshot(two.home, "other") == other
        assert list_lake(two.home).problems == ()
        remove_now(two, plan_removal(two, "toy"), keep=False)
        assert without_looks(snapshot(two.home, "toy")) == {}
        assert list((two.home / "removed").iterdir()) == []
        assert len(list(two.corpora.iterdir())) == 1
        shutil.rmtree(two.home)
        shutil.copytree(saved, two.home)
    assert steps > 10


@pytest.mark.dbt
def test_a_build_forgets_what_was_removed(two: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli(["build"]) == 0
    assert run_cli(["datasets", "remove", "toy", "--yes"]) == 0
    assert run_cli(["build"]) == 0
    capsys.readouterr()
    question = (
        "select (select string_agg(distinct dataset) from dim_runs) as runs, "
        "(select string_agg(distinct dataset) from dim_tasks) as tasks, "
        "(select count(distinct run_id) from fct_hits) as n"
    )
    assert run_cli(["sql", "--csv", question]) == 0
    assert capsys.readouterr().out.splitlines() == ["runs,tasks,n", "other,other,1"]
