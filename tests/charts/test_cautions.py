"""Every caution is shown wherever the run's figures are: tables, JSON, pages, charts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path

import duckdb
import pytest
from tests.charts.conftest import build_project
from tests.charts.fixture_arms import ARMS, RunSpec, demo_runs

from evalake_cli.main import run_cli
from evalake_reports.charts import forest, open_marts, panels, score_bars
from evalake_reports.report import leaderboard, printable, render_report, write_report
from evalake_warehouse.project import Project

DEAD, SHORT, QUIET = "ripgrep", "pydocs-lexical", "pydocs-dense"
TOLD = {
    DEAD: [
        "suspect, no verdict: every score is 0",
        "40 of 40 answered paths are in no file of the corpus",
    ],
    SHORT: [
        "62 of 66 lists ran out of distinct files before the cutoff of recall@5, which is a lower "
        "bound; ask for depth 25"
    ],
    QUIET: [
        "no hit came from branches dense and graph; the scores are those of the other branches",
        "unfinished: 4 of 66 tasks were not attempted",
    ],
}
DEPTHS = (
    "nequal depth, hits asked for: pydocs-lexical: 5; bm25, ripgrep, pydocs-dense: 20. Metrics "
    "over distinct files, and those without a cutoff, favour the deeper list"
)


def cautious_runs() -> list[RunSpec]:
    runs = demo_runs(ARMS[:4], n_tasks=6)
    by_label = {run.arm.label: run for run in runs}
    by_label[DEAD].suspect_reason = "all_zero"
    by_label[DEAD].cautions = ({"caution": "unresolved_paths", "n": 40, "of_n": 40},)
    by_label[SHORT].depth = 5
    truncated = {"caution": "truncated", "n": 62, "of_n": 66, "detail": "5"}
    by_label[SHORT].cautions = (
        truncated | {"metric": "recall@5"},
        truncated | {"metric": "success@10"},  # the same of another metric that is shown
        truncated | {"metric": "recall@100"},  # of one that is not
    )
    by_label[QUIET].cautions = (
        {"caution": "silent_branches", "n": 2, "of_n": 3, "detail": "dense, graph"},
        {"caution": "unfinished", "n": 4, "of_n": 66},
    )
    return runs


@pytest.fixture(scope="module")
def cautious(tmp_path_factory: pytest.TempPathFactory) -> Project:
    home = tmp_path_factory.mktemp("cautious")
    project = build_project(home, cautious_runs())
    with duckdb.connect(str(home / "warehouse.duckdb")) as connection:
        connection.execute(
            "update fct_paired_tests set verdict = 'suspect', candidate_suspect = 'all_zero', "
            "p_holm = null where candidate_run_id in "
            f"(select run_id from dim_runs where arm_label = '{DEAD}')"
        )
    return project


def test_the_leaderboard_tells_each_runs_cautions_and_ranks_no_suspect(cautious: Project) -> None:
    with open_marts(cautious) as marts:
        [selection] = panels(marts)
        rows = leaderboard(selection)
        shown = {row["arm"]: row["caution"] for row in printable(selection)}
    assert rows[-1]["arm"] == DEAD
    assert [row["rank"] is None for row in rows] == [False, False, False, True]
    assert [row["suspect"] for row in rows] == [False, False, False, True]
    told = {row["arm"]: [one["text"] for one in row["cautions"]] for row in rows}
    assert told == {"bm25": [], **TOLD}
    assert shown == {"bm25": "\u2013", **{arm: "; ".join(texts) for arm, texts in TOLD.items()}}


def test_reports_in_every_format_tell_each_caution(cautious: Project, tmp_path: Path) -> None:
    with open_marts(cautious) as marts:
        selections = panels(marts)
        written = {name: render_report(selections, name) for name in ("md", "json")}
        written["full"] = render_report(selections, "md", full=True)
        written["html"] = unescape(write_report(selections, tmp_path / "r.html").read_text())
    for form, text in written.items():
        for arm, texts in TOLD.items():
            assert all(f"{arm}: {one}." in text for one in texts), (form, arm)
        assert DEPTHS in text, form
    sentence = f"{DEAD} against bm25 has no verdict (the candidate is suspect, every score is 0)"
    for form in ("full", "html", "json"):
        assert sentence in written[form], form
        assert f"{DEAD} is worse" not in written[form], form


def test_charts_tell_cautions_under_their_title_suspects_first(cautious: Project) -> None:
    with open_marts(cautious) as marts:
        [selection] = panels(marts)
        drawn = [score_bars(selection), forest(selection)]
    for chart in drawn:
        lines = chart.to_dict()["title"]["subtitle"]
        first = lines.index(f"{DEAD}: {TOLD[DEAD][0]}")
        assert lines[first + 1].startswith(f"{DEAD}: 40 of 40") or lines[first + 1].startswith(
            f"{SHORT}: 62 of 66"
        )
        assert lines[-1] == "and 2 more: evalake leaderboard"


def test_commands_print_cautions_as_json(
    cautious: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVALAKE_HOME", str(cautious.home))
    assert run_cli(["leaderboard", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    [dead] = [row for row in rows if row["arm"] == DEAD]
    assert dead["cautions"][0] == {
        "code": "all_zero",
        "text": TOLD[DEAD][0],
        "metric": None,
        "n": 6,
        "of_n": 6,
        "detail": None,
        "is_suspect": True,
    }
    assert [one["code"] for one in rows[0]["table_cautions"]] == ["unequal_depth"]
    assert run_cli(["leaderboard"]) == 0
    assert f"warning: u{DEPTHS}" in capsys.readouterr().err
    assert run_cli(["runs", "list", "--json"]) == 0
    listed = {row["arm_label"]: row["cautions"] for row in json.loads(capsys.readouterr().out)}
    assert {arm: [one["text"] for one in told] for arm, told in listed.items()} == {
        "bm25": [],
        **TOLD,
    }
    assert run_cli(["runs", "list"]) == 0
    assert "all_zero, unresolved_paths" in capsys.readouterr().out
    assert run_cli(["runs", "show", DEAD, "--json"]) == 0
    assert [one["code"] for one in json.loads(capsys.readouterr().out)["cautions"]] == [
        "all_zero",
        "unresolved_paths",
    ]
    assert run_cli(["runs", "show", SHORT]) == 0
    assert TOLD[SHORT][0] in capsys.readouterr().out


def test_where_all_runs_are_suspect_nothing_is_ranked_and_the_exit_code_is_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = demo_runs(ARMS[:2], n_tasks=3)
    for run in runs:
        run.suspect_reason = "all_zero"
    project = build_project(tmp_path / "home", runs)
    monkeypatch.setenv("EVALAKE_HOME", str(project.home))
    assert run_cli(["leaderboard"]) == 3
    assert run_cli(["report", "--output", str(tmp_path / "r.md")]) == 3


def write_lists(home: Path, lists: Sequence[tuple[str, Sequence[str | None]]]) -> None:
    """Digests of the lists of arms, a task each."""
    with duckdb.connect(str(home / "warehouse.duckdb")) as connection:
        for label, digests in lists:
            connection.executemany(
                "insert into fct_task_lists (run_id, task_id, status, list_digest) "
                "select run_id, ?, 'ok', ? from dim_runs where arm_label = ?",
                [[f"t{number}", digest, label] for number, digest in enumerate(digests)],
            )


def test_arms_with_the_same_lists_share_a_rank_and_are_told(tmp_path: Path) -> None:
    arms = (
        replace(ARMS[2], label="fetch-10"),
        replace(ARMS[0], label="base"),
        replace(ARMS[2], label="fetch-100"),
    )
    runs = demo_runs(arms, n_tasks=6)
    runs[2].seed = runs[0].seed  # the same scores
    project = build_project(tmp_path, runs)
    write_lists(
        tmp_path,
        [
            ("fetch-10", ["a", "b", None]),  # a task that failed has no list
            ("fetch-100", ["a", "b", "c"]),
            ("base", ["a", "x", "y"]),
        ],
    )
    with open_marts(project) as marts:
        [selection] = panels(marts)
        rows = leaderboard(selection)
        shown = printable(selection)
    by_arm = {row["arm"]: row for row in rows}
    assert by_arm["fetch-10"]["rank"] == by_arm["fetch-100"]["rank"]
    assert {row["#"] for row in shown if row["arm"].startswith("fetch")} in ({"1="}, {"2="})
    assert [one["text"] for one in by_arm["fetch-10"]["cautions"]] == [
        "the same list as fetch-100 on 2 of 2 tasks: what differs had no effect"
    ]
    assert by_arm["base"]["cautions"] == []
