from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.charts.conftest import build_project
from tests.charts.fixture_arms import ARMS, EDITION, RunSpec, demo_runs

from evalake_cli.main import run_cli
from evalake_warehouse.project import Project

HEADING = f"starter, dev, edition {EDITION[:8]} (latest), n = 40 tasks"


@pytest.fixture
def in_demo(demo_project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALAKE_HOME", str(demo_project.home))


@pytest.mark.usefixtures("in_demo")
def test_charts_are_written_and_their_paths_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run_cli(
        ["charts", "--output", str(tmp_path), "--chart", "forest", "--chart", "score_bars",
         "--metric", "mrr", "--format", "svg", "--format", "png", "--title", "Mine"]
    )  # fmt: skip
    assert code == 0
    names = ["forest.svg", "forest.png", "score_bars.svg", "score_bars.png"]
    assert capsys.readouterr().out.splitlines() == [str(tmp_path / name) for name in names]
    svg = (tmp_path / "score_bars.svg").read_text()
    assert "Mine" in svg
    assert "mrr: " not in svg


@pytest.mark.usefixtures("in_demo")
def test_files_are_listed_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--output", str(tmp_path), "--chart", "latency_bars", "--json"]
    assert run_cli(["charts", *arguments]) == 0
    files = json.loads(capsys.readouterr().out)
    file = str(tmp_path / "latency_bars.svg")
    assert files == [{"chart": "latency_bars", "path": file, "cautions": []}]


@pytest.mark.usefixtures("in_demo")
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--chart", "pie"], "no chart 'pie'; there are: score_bars, method_comparison"),
        (["--format", "gif"], "no chart format 'gif'"),
        (["--theme", "sepia"], "no theme 'sepia'"),
        (["--palette", "red"], "no colour of the form #rrggbb: 'red'"),
        (["--metric", "recal@5"], "did you mean `recall@5`"),
        (["--percentile", "p42"], "no percentile 'p42'; there are: p50, p95, p99"),
        (["--latency-metric", "sleep"], "for 'sleep'; there are: index, search"),
        (["--run", "bm26"], "did you mean 'bm25'"),
        (["--sweep", "nope"], "no run with sweep_id 'nope'"),
    ],
)
def test_misuse_says_what_would_be_right_and_exits_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], message: str
) -> None:
    assert run_cli(["charts", "--output", str(tmp_path / "out"), *flags]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("in_demo")
@pytest.mark.parametrize(("name", "kind"), [("forest.png", "png"), ("a.pdf", "svg")])
def test_a_files_name_where_charts_want_a_folder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, kind: str
) -> None:
    assert run_cli(["charts", "--output", str(tmp_path / name), "--chart", "forest"]) == 2
    error = capsys.readouterr().err
    assert f"{name} is a file's name; charts go into a folder, a file each" in error
    assert f"hint: evalake charts --output charts --format {kind}" in error
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("in_demo")
def test_a_palette_colours_the_arms_in_order(tmp_path: Path) -> None:
    flags = ["--chart", "score_bars", "--palette", "#010203,#040506"]
    assert run_cli(["charts", "--output", str(tmp_path), *flags]) == 0
    svg = (tmp_path / "score_bars.svg").read_text()
    assert "#010203" in svg
    assert "#040506" in svg
    assert "#296cd8" not in svg


def test_several_datasets_get_a_folder_each_and_naming_runs_of_two_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [RunSpec(arm, name, n_tasks=4) for name in ("one", "two") for arm in ARMS[:2]]
    project = build_project(tmp_path / "home", runs)
    monkeypatch.setenv("EVALAKE_HOME", str(project.home))
    out = tmp_path / "out"
    assert run_cli(["charts", "--output", str(out), "--chart", "score_bars"]) == 0
    folders = ["one-eeeeeeee-dev", "two-eeeeeeee-dev"]
    assert sorted(path.name for path in out.iterdir()) == folders
    capsys.readouterr()
    names = [run.run_id for run in runs]
    both = ["--run", names[0], "--run", names[2]]
    assert run_cli(["charts", "--output", str(out), *both]) == 2
    error = capsys.readouterr().err
    assert "one eeeeeeee (dev)" in error
    assert "two eeeeeeee (dev)" in error


@pytest.mark.usefixtures("in_demo")
def test_the_reports_format_follows_the_ending_or_the_flag(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(["report", "--output", str(tmp_path / "r.md")]) == 0
    assert run_cli(["report", "--output", str(tmp_path / "r.txt"), "--format", "json"]) == 0
    assert capsys.readouterr().out.splitlines() == [str(tmp_path / "r.md"), str(tmp_path / "r.txt")]
    assert (tmp_path / "r.md").read_text().startswith(f"## {HEADING}\n")
    assert json.loads((tmp_path / "r.txt").read_text())["panels"]


@pytest.mark.usefixtures("in_demo")
def test_markdown_and_json_go_to_stdout_and_html_asks_for_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_cli(["report", "--format", "md", "--title", "A study"]) == 0
    assert capsys.readouterr().out.startswith(
        "# A study\n\n## starter, dev, edition eeeeeeee (latest), n = 40 tasks\n"
    )
    assert run_cli(["report", "--format", "md", "--full"]) == 0
    assert "\n## Breakouts\n" in capsys.readouterr().out
    assert run_cli(["report", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["panels"]
    assert run_cli(["report"]) == 2
    assert "an HTML report needs a file" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("in_demo")
def test_a_report_into_a_file_of_another_kind_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(["report", "--output", str(tmp_path / "r.pdf")]) == 2
    error = capsys.readouterr().err
    assert "r.pdf: a report ends in .html, .md, .json" in error
    assert f"hint: --output {tmp_path / 'r.html'}" in error
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("in_demo")
def test_the_leaderboard_is_a_table_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli(["leaderboard"]) == 0
    table = capsys.readouterr().out
    assert HEADING in table
    assert all(arm.label in table for arm in ARMS)
    assert run_cli(["leaderboard", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["rank"] for row in rows] == [1, 2, 3, 4, 5, 5, 7, 8]
    assert rows[4]["mean"] == rows[5]["mean"] > rows[6]["mean"]
    places = {(row["dataset"], row["split"], row["edition"]) for row in rows}
    assert places == {("starter", "dev", EDITION)}
    assert all(row["is_latest_edition"] for row in rows)


def test_where_no_run_has_a_score_the_exit_code_is_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = demo_runs(ARMS[:2], n_tasks=3)
    for run in runs:
        run.scored = False
    project = build_project(tmp_path / "home", runs)
    monkeypatch.setenv("EVALAKE_HOME", str(project.home))
    assert run_cli(["report", "--output", str(tmp_path / "r.md")]) == 3
    assert run_cli(["leaderboard"]) == 3


def test_without_a_warehouse_the_hint_is_to_build_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVALAKE_HOME", str(tmp_path))
    assert run_cli(["charts", "--output", str(tmp_path / "out")]) == 2
    assert "hint: evalake build" in capsys.readouterr().err
