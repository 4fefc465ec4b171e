"""What commands say of runs that the warehouse does not have, and of datasets that no one has."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from lake_factory import RunWriter, docs, write_dataset

from evalake_cli.main import run_cli
from evalake_warehouse.build import BuildSettings, build
from evalake_warehouse.project import Project, find_project_dir

pytestmark = pytest.mark.dbt

GOLD = {"t1": {"a": 1}, "t2": {"b": 1}, "t3": {"c": 1}}
CONFIG = {f"opt_{number:03d}": "x" * 20 for number in range(100)}  # 3,500 characters as JSON
COMMANDS = [
    ["runs", "list"],
    ["runs", "show", "latest"],
    ["runs", "diff", "first", "second"],
    ["leaderboard"],
    ["compare", "first", "second"],
    ["gate", "first", "latest"],
    ["report", "--format", "md"],
    ["charts", "--output", "charts", "--chart", "score_bars"],
    ["sql", "select count(*) from dim_runs"],
]


def write_run(home: Path, edition: str, label: str) -> RunWriter:
    run = RunWriter(home, edition, arm_label=label)
    run.event("started", n_tasks=3, config_json=json.dumps(CONFIG))
    run.attempts({"t1": docs("a"), "t2": docs("x"), "t3": docs("c")})
    run.event("finished", n_tasks=3, status="complete")
    return run


@pytest.fixture(scope="module")
def built_home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, RunWriter]:
    """A home with two judged runs, the default warehouse and a scenario of it."""
    home = tmp_path_factory.mktemp("built") / "home"
    edition = write_dataset(home, GOLD)
    write_dataset(home, {"u1": {"a": 1}}, dataset="unused")
    write_run(home, edition, "first")
    second = write_run(home, edition, "second")
    project = Project(home=home, data_dir=find_project_dir())
    build(project)
    build(project, settings=BuildSettings(min_pairs=2), scenario="two")
    return home, edition, second


@pytest.fixture
def built(
    built_home: tuple[Path, str, RunWriter], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, str, RunWriter]:
    """A copy of it, as the home of commands."""
    home = tmp_path / "home"
    shutil.copytree(built_home[0], home, symlinks=True)
    monkeypatch.chdir(tmp_path)
    second = RunWriter(home, built_home[1], run_id=built_home[2].run_id, arm_label="second")
    return home, built_home[1], second


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_that_reads_marts_says_which_runs_they_lack(
    built: tuple[Path, str, RunWriter], command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    home, edition, _ = built
    run_cli(command)
    assert "judged" not in capsys.readouterr().err
    write_run(home, edition, "third")
    run_cli(command)
    assert "warning: 1 run is not judged yet: evalake build\n" in capsys.readouterr().err


def test_a_run_with_later_attempts_is_told_from_one_that_was_never_judged(
    built: tuple[Path, str, RunWriter], capsys: pytest.CaptureFixture[str]
) -> None:
    home, edition, second = built
    for _ in range(3):
        next(second._parts)
    second.attempts({"t2": docs("b")}, attempt=2)
    assert run_cli(["runs", "list"]) == 0
    told = "1 run is judged without the latest evidence: evalake build\n"
    assert capsys.readouterr().err == f"warning: {told}"
    write_run(home, edition, "third")
    write_run(home, edition, "fourth")
    assert run_cli(["runs", "list"]) == 0
    assert capsys.readouterr().err == f"warning: 2 runs are not judged yet and {told}"


def test_a_scenario_is_brought_up_to_date_under_its_own_name(
    built: tuple[Path, str, RunWriter], capsys: pytest.CaptureFixture[str]
) -> None:
    home, edition, _ = built
    write_run(home, edition, "third")
    assert run_cli(["gate", "first", "third", "--scenario", "two"]) == 2
    error = capsys.readouterr().err
    assert "1 run is not judged yet: evalake build --scenario two\n" in error
    assert "error: CANDIDATE: run 'third' is in the lake and not judged yet\n" in error
    assert error.endswith("hint: evalake build --scenario two\n")


def test_a_run_that_waits_for_a_build_is_told_from_one_that_does_not_exist(
    built: tuple[Path, str, RunWriter], capsys: pytest.CaptureFixture[str]
) -> None:
    home, edition, _ = built
    third = write_run(home, edition, "third")
    for name in ("third", third.run_id, third.run_id[:-1]):
        assert run_cli(["runs", "show", name]) == 2
        error = capsys.readouterr().err
        assert f"error: run '{name}' is in the lake and not judged yet" in error
        assert error.endswith("hint: evalake build\n")
    assert run_cli(["runs", "show", "thrid"]) == 2
    assert "error: no run 'thrid'; the latest are" in capsys.readouterr().err


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("command", [["runs", "list"], ["audit", "looks"]], ids=" ".join)
def test_a_dataset_without_runs_has_no_rows_and_one_that_is_none_is_an_error(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli([*command, "--dataset", "unused"]) == 0
    assert capsys.readouterr().err == "no rows\n"
    assert run_cli([*command, "--dataset", "unusde"]) == 2
    told = (
        "error: no dataset 'unusde' here; did you mean `unused`?\n\nhint: evalake datasets list\n"
    )
    assert capsys.readouterr() == ("", told)
    assert run_cli([*command, "--dataset", "qqq"]) == 2
    assert "no dataset 'qqq' here; there are: toy, unused\n" in capsys.readouterr().err


@pytest.mark.usefixtures("built")
def test_a_run_with_a_long_configuration_fits_a_page_and_its_json_is_whole(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_cli(["runs", "show", "latest"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) < 160
    assert "characters; --json has all)" in shown
    assert run_cli(["runs", "show", "latest", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)["run"]
    assert json.loads(record["config_json"]) == CONFIG


def test_a_scenario_keeps_its_variables_until_one_is_changed(
    built: tuple[Path, str, RunWriter], capsys: pytest.CaptureFixture[str]
) -> None:
    home, _, _ = built
    scenario = home / "scenarios" / "two.duckdb"
    for arguments, told in (
        ([], "up to date, 2 runs, by min_pairs=2"),
        (
            ["--var", "text_threshold=90.5"],
            "judged 2 of 2 runs, by text_threshold=90.5 min_pairs=2",
        ),
        (["--var", "min_pairs=10"], "judged 2 of 2 runs, by text_threshold=90.5"),
        (["--var", "text_threshold=85"], "judged 2 of 2 runs, by the default variables"),
    ):
        assert run_cli(["build", *arguments, "--scenario", "two"]) == 0
        assert capsys.readouterr().err.splitlines()[-1] == f"{scenario}: {told}"
    assert run_cli(["build", "--scenario", "two", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["variables"] == {}
