"""Who is ranked in a report: runs without a score, with part of the tasks, or with a score of 0."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.charts.conftest import build_project
from tests.charts.fixture_arms import ARMS, demo_runs

from evalake_reports.charts import open_marts, panels
from evalake_reports.report import leaderboard, printable, render_report, write_report


def test_a_run_that_never_ran_is_neither_ranked_nor_scored(tmp_path: Path) -> None:
    runs = demo_runs(ARMS[:3], n_tasks=6)
    runs[1].scored = False
    with open_marts(build_project(tmp_path, runs)) as marts:
        rows = leaderboard(panels(marts)[0])
        shown = printable(panels(marts)[0])
    assert [row["rank"] for row in rows] == [1, 2, None]
    assert rows[-1]["arm"] == "ripgrep"
    assert rows[-1]["mean"] is None
    assert (rows[-1]["n_failed"], rows[-1]["not_scored"]) == (6, {"error": 6})
    assert shown[-1]["recall@5 [95 % interval]"] == "not scored"
    assert shown[-1]["not scored"] == "6 error"


def test_tasks_that_were_not_attempted_have_no_score_and_did_not_fail(tmp_path: Path) -> None:
    runs = demo_runs(ARMS[:2], n_tasks=9)
    runs[1].n_error, runs[1].n_not_attempted = 1, 3
    with open_marts(build_project(tmp_path, runs)) as marts:
        [_, row] = leaderboard(panels(marts)[0])
        text = render_report(panels(marts), "md", full=True)
    assert (row["n_scored"], row["n_failed"]) == (5, 1)
    assert row["not_scored"] == {"error": 1, "not_attempted": 3}
    assert "ripgrep has no score on 4 of 9 tasks (1 error, 3 not_attempted)" in text


def test_an_arm_without_any_score_is_said_not_to_be_ranked(tmp_path: Path) -> None:
    runs = demo_runs(ARMS[:2], n_tasks=4)
    runs[1].scored = False
    with open_marts(build_project(tmp_path, runs)) as marts:
        text = render_report(panels(marts), "md")
    assert "no score on 4 of 4 tasks (4 error); it is neither ranked nor compared." in text


def test_an_arm_that_scored_0_stands_before_one_without_a_score(tmp_path: Path) -> None:
    runs = demo_runs((replace(ARMS[1], label="a"), replace(ARMS[1], label="b", skill=0)), n_tasks=6)
    runs[0].scored = False
    with open_marts(build_project(tmp_path, runs)) as marts:
        rows = leaderboard(panels(marts)[0])
    assert [(row["arm"], row["mean"], row["rank"]) for row in rows] == [
        ("b", 0, 1),
        ("a", None, None),
    ]


def test_a_partial_run_is_listed_and_left_out(tmp_path: Path) -> None:
    runs = demo_runs(ARMS[:3], n_tasks=8)
    runs[2].n_tasks = 3
    with open_marts(build_project(tmp_path, runs)) as marts:
        selection = panels(marts)[0]
        rows = leaderboard(selection)
        text = write_report([selection], tmp_path / "r.md").read_text()
    assert rows[-1]["partial"] == "has 3 of 8 tasks"
    assert rows[-1]["rank"] is None
    assert "pydocs-lexical is left out of charts and comparisons: it has 3 of 8 tasks" in text


def test_a_partial_run_stands_after_one_without_any_score(tmp_path: Path) -> None:
    arms = (replace(ARMS[0], label="whole"), replace(ARMS[1], label="part"))
    runs = demo_runs((*arms, replace(ARMS[1], label="unscored")), n_tasks=8)
    runs[1].n_tasks = 3
    runs[2].scored = False
    with open_marts(build_project(tmp_path, runs)) as marts:
        rows = leaderboard(panels(marts)[0])
    assert [(row["arm"], row["rank"], row["mean"] is None) for row in rows] == [
        ("whole", 1, False),
        ("unscored", None, True),
        ("part", None, False),
    ]


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("nothing_attempted", "nothing was attempted"),
        ("all_failed", "every task that was attempted failed"),
        ("no_comparable_output", "its answers cannot be compared with the gold"),
        ("all_empty", "every answer was empty"),
        ("all_zero", "every score is 0"),
    ],
)
def test_a_suspect_run_says_why(tmp_path: Path, reason: str, told: str) -> None:
    runs = demo_runs(ARMS[:2], n_tasks=4)
    runs[1].suspect_reason = reason
    with open_marts(build_project(tmp_path, runs)) as marts:
        text = render_report(panels(marts), "md")
    assert f"ripgrep: suspect, no verdict: {told}." in text
