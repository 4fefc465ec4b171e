"""A name means one run: what could mean another is told, and what means two is refused."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from tests.charts.conftest import build_project
from tests.charts.fixture_arms import ARMS, T0, RunSpec

from evalake_cli.main import run_cli
from evalake_warehouse.project import Project

OTHER = "f" * 12  # an edition


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, dict[str, str]]:
    """bm25 in two datasets, ripgrep twice in one place, lexical in two splits, dense in two
    editions, and a sweep of two arms that was last.
    """
    bm25, ripgrep, lexical, dense, hybrid, *_ = ARMS
    specs = {
        "bm25 a": RunSpec(bm25, dataset="a"),
        "bm25 b": RunSpec(bm25, dataset="b"),
        "ripgrep old": RunSpec(ripgrep, dataset="a", seed=1),
        "ripgrep new": RunSpec(ripgrep, dataset="a", seed=2),
        "lexical dev": RunSpec(lexical, dataset="a"),
        "lexical test": RunSpec(lexical, dataset="a", split="test"),
        "dense e": RunSpec(dense, dataset="b"),
        "dense f": RunSpec(dense, dataset="b", edition=OTHER),
        "dim": RunSpec(ARMS[5], dataset="a", sweep="last"),
        "hybrid": RunSpec(hybrid, dataset="a", sweep="last"),
    }
    for number, spec in enumerate(specs.values()):
        spec.n_tasks, spec.started_at = 12, T0 + timedelta(minutes=number)
    home = tmp_path_factory.mktemp("names")
    project = build_project(home, list(specs.values()))
    return project, {name: spec.run_id for name, spec in specs.items()}


@pytest.fixture
def ids(
    made: tuple[Project, dict[str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> dict[str, str]:
    monkeypatch.setenv("EVALAKE_HOME", str(made[0].home))
    monkeypatch.chdir(tmp_path)
    return made[1]


def error_of(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    assert run_cli(list(command)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hybrid", "latest"),
        ("latest", "hybrid"),
        ("hybrid", "hybrid"),
        ("latest", "latest"),
        ("hybrid", "prefix"),
        ("id", "latest"),
    ],
)
@pytest.mark.parametrize("command", [["gate"], ["compare"], ["runs", "diff"]], ids=" ".join)
def test_a_run_is_not_held_against_itself_whatever_it_is_called(
    ids: dict[str, str],
    command: list[str],
    one: str,
    other: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    known = {"hybrid": "pydocs-hybrid", "id": ids["hybrid"], "prefix": ids["hybrid"][:-2]}
    names = [known.get(name, name) for name in (one, other)]
    error = error_of(capsys, *command, *names)
    assert f"error: `{names[0]}` and `{names[1]}` both mean run {ids['hybrid']}" in error
    assert ("nothing newer was recorded" in error) == ("latest" in names)
    assert error.endswith("hint: evalake runs list --dataset a\n")


@pytest.mark.parametrize(
    ("label", "places", "hint"),
    [
        ("bm25", "2 places; say which: --dataset b; --dataset a", "--dataset b"),
        ("pydocs-lexical", "2 places; say which: --split test; --split dev", "--split test"),
        (
            "pydocs-dense",
            "2 places; say which: --edition ffffffff; --edition eeeeeeee",
            "--edition ffffffff",
        ),
    ],
)
@pytest.mark.usefixtures("ids")
def test_a_label_of_several_places_asks_which(
    label: str, places: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (
        ["gate", label, "latest"],
        ["gate", "latest", label],
        ["compare", label, "latest"],
        ["runs", "show", label],
        ["runs", "diff", label, "latest"],
        ["baseline", "freeze", label],
        ["leaderboard", "--run", label],
        ["report", "--format", "md", "--run", label],
        ["charts", "--output", "charts", "--run", label],
    ):
        error = error_of(capsys, *command)
        assert f"label {label!r} names runs in {places}\n" in error, command
        assert error.endswith(f"hint: {hint}\n"), command


def test_the_flags_say_which_run_of_a_label_is_meant(
    ids: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    for name, flags in (
        ("bm25 a", ["bm25", "--dataset", "a"]),
        ("lexical dev", ["pydocs-lexical", "--split", "dev"]),
        ("dense e", ["pydocs-dense", "--edition", "ee"]),
    ):
        assert run_cli(["runs", "show", *flags, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["run"]["run_id"] == ids[name]
        selected = ["--run", *flags]
        assert run_cli(["leaderboard", *selected, "--json"]) == 0
        assert [row["run_id"] for row in json.loads(capsys.readouterr().out)] == [ids[name]]


def test_of_several_runs_with_a_label_the_last_is_taken_and_told(
    ids: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(["runs", "show", "ripgrep", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["run"]["run_id"] == ids["ripgrep new"]
    told = (
        f"`ripgrep` is ripgrep on a/dev ({ids['ripgrep new']}), the last of 2 runs with this label"
    )
    assert printed.err == f"{told}\n"


def test_latest_says_which_run_it_is(
    ids: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    where = f"pydocs-hybrid on a/dev ({ids['hybrid']}), the last recorded of"
    assert run_cli(["gate", "ripgrep", "latest", "--json"]) in (0, 1, 3)
    printed = capsys.readouterr()
    assert f"`latest` is {where} 10 runs, 2 of them of sweep last, on 2 datasets\n" in printed.err
    assert json.loads(printed.out)["candidate"]["run_id"] == ids["hybrid"]
    assert run_cli(["leaderboard", "--run", "latest", "--dataset", "a", "--json"]) == 0
    assert f"`latest` is {where} 7 runs, 2 of them of sweep last\n" in capsys.readouterr().err


def test_latest_is_the_last_run_also_where_it_cannot_be_compared(
    ids: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    error = error_of(capsys, "gate", ids["bm25 b"], "latest")
    assert "error: the baseline ran on dataset 'b', the candidate on 'a'" in error


def test_a_frozen_baseline_is_not_held_against_the_run_that_it_is(
    ids: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(["baseline", "freeze", "latest", "--output", "it.json"]) == 0
    capsys.readouterr()
    for command in ("gate", "compare"):
        error = error_of(capsys, command, "it.json", "latest")
        assert f"`it.json` and `latest` both mean run {ids['hybrid']}" in error
    assert run_cli(["gate", "it.json", "ripgrep"]) in (0, 1, 3)


@pytest.mark.usefixtures("ids")
def test_a_file_beside_it_does_not_change_what_a_label_means(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("ripgrep").write_text("1 Q0 d 1 1.0 t\n")
    assert run_cli(["gate", "ripgrep", "latest"]) in (0, 1, 3)
    assert "cannot be read as JSON" not in capsys.readouterr().err
