from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.charts.conftest import build_project
from tests.charts.fixture_arms import ARMS, demo_runs
from tests.charts.test_report import ORDER

from evalake_reports.charts import Marts, Selection, open_marts, panels
from evalake_reports.charts.labels import DASH, difference
from evalake_reports.report import render_report
from evalake_reports.report.markdown import escape

GITHUB = MarkdownIt("commonmark").enable("table").enable("strikethrough")


def tables_in(text: str) -> list[list[list[str]]]:
    """Every table's rows as a Markdown reader sees them, the header first."""
    page = GITHUB.render(text)
    return [
        [
            [html.unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
            for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
        ]
        for table in re.findall(r"<table>(.*?)</table>", page, re.DOTALL)
    ]


@pytest.fixture(scope="module")
def text(demo: Selection) -> str:
    return render_report([demo], "md")


def test_the_summary_is_one_part_with_three_tables(text: str) -> None:
    assert re.findall(r"^#+ (.+)$", text, re.MULTILINE) == [
        "starter, dev, edition eeeeeeee (latest), n = 40 tasks"
    ]
    assert [rows[0][0] for rows in tables_in(text)] == ["#", "candidate", "arm"]
    assert "Primary metric: recall@5. Chance: 0.012. Baseline: bm25." in text


def test_every_arm_stands_with_its_n_and_the_means_and_intervals_of_the_marts(
    text: str, demo: Selection
) -> None:
    stored = demo.marts.rows(
        "select arm_label, metric, n_scored, mean, ci_low, ci_high from fct_run_metrics "
        "join dim_runs using (run_id)"
    )
    header, *rows = tables_in(text)[0]
    assert header[:4] == ["#", "arm", "n", "recall@5"]
    assert {"success@1", "mrr", "ndcg@10"} <= set(header)
    shown = {row[1]: dict(zip(header, row, strict=True)) for row in rows}
    assert shown.keys() == {arm.label for arm in ARMS}
    for row in stored:
        if row["metric"] in header and row["ci_low"] != row["ci_high"]:
            mean = f"{row['mean']:.3f} [{row['ci_low']:.2f}, {row['ci_high']:.2f}]"
            assert shown[row["arm_label"]][row["metric"]] == mean
        assert shown[row["arm_label"]]["n"] == str(row["n_scored"])


def test_every_candidate_stands_with_difference_p_and_verdict_of_the_marts(
    text: str, demo: Selection
) -> None:
    stored = demo.marts.rows("select * from fct_paired_tests where metric = 'recall@5'")
    header, *rows = tables_in(text)[1]
    shown = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    assert len(shown) == len(stored) == 6  # neither the baseline nor the control
    for row in stored:
        cells = shown[demo.labels[row["candidate_run_id"]]]
        bounds = difference(row["mean_diff"], row["diff_low"], row["diff_high"])
        assert cells["difference [95 % interval]"] == bounds
        assert cells["verdict"] == row["verdict"]
        p = "< 0.001" if row["p_holm"] < 0.001 else f"{row['p_holm']:.3f}"
        assert cells["p (Holm)"] == p
        assert cells["mde"] == "0.120"


def test_times_of_search_and_index_stand_per_arm(text: str) -> None:
    header, *rows = tables_in(text)[2]
    assert header == ["arm", "search p50", "search p95", "searches", "index", "index size"]
    # What the synthetic arm was given: 2.1 ms, a p95 of 2.1 times that, 2 + 300 * 0.34 s.
    bm25 = ["bm25", "2.10 ms", "4.41 ms", "40 warm", "104 s", "4.2 MB"]
    assert bm25 in rows


def test_drops_of_the_dataset_are_one_line_with_their_reasons(text: str) -> None:
    assert "rows 42 read, 40 kept, 2 dropped (drops: 1 duplicate_query, 1 no_gold)." in text


def test_tasks_without_a_score_stand_with_their_reasons(tmp_path: Path) -> None:
    runs = demo_runs(ARMS[:3], n_tasks=6)
    runs[1].n_error = 2
    runs[2].scored = False
    with open_marts(build_project(tmp_path, runs)) as marts:
        rows = tables_in(render_report(panels(marts), "md"))[0]
    shown = {row[1]: (row[2], row[3], row[-1]) for row in rows}
    assert shown["arm"][2] == "not scored"
    assert shown["bm25"][0] == "6"
    assert shown["bm25"][2] == DASH
    assert shown["ripgrep"][0] == "4 of 6"
    assert shown["ripgrep"][2] == "2 error"
    assert shown["pydocs-lexical"] == ("0 of 6", "not scored", "6 error")


def test_where_all_tasks_score_the_same_the_interval_still_has_a_width(
    demo_marts: Marts, text: str
) -> None:
    [random] = demo_marts.rows(
        "select metrics.* from fct_run_metrics as metrics join dim_runs using (run_id) "
        "where arm_label = 'random' and metric = 'success@1'"
    )
    assert random["ci_low"] == random["ci_high"] == 0
    header, *rows = tables_in(text)[0]
    [cells] = [row for row in rows if row[1] == "random"]
    # Wilson's for 0 of 40: from 0 to z^2 / (40 + z^2) with z = 1.96.
    assert cells[header.index("success@1")] == "0.000 [0.00, 0.09]"


def test_splits_are_parts_of_one_page(tmp_path: Path) -> None:
    runs = demo_runs(ARMS[:2], n_tasks=6) + demo_runs(ARMS[:2], n_tasks=6, split="test")
    with open_marts(build_project(tmp_path, runs)) as marts:
        text = render_report(panels(marts), "md", name="Both")
    assert re.findall(r"^#+ .+$", text, re.MULTILINE) == [
        "# Both",
        "## starter, dev, edition eeeeeeee (latest), n = 6 tasks",
        "## starter, test, edition eeeeeeee (latest), n = 6 tasks",
    ]


def test_in_full_it_has_every_section_and_whole_tables(demo: Selection) -> None:
    text = render_report([demo], "md", full=True)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ORDER[:-1]
    for table in tables_in(text):
        assert len({len(row) for row in table}) == 1


@given(st.text(alphabet="ab1 _*[]()`~|<>&\\-#+.:!=\n\r\"'"))
@example("[a](javascript:b)")
@example("[a]: b")
@example("<!-- ")
def test_any_text_is_shown_as_it_is(text: str) -> None:
    page = GITHUB.render(f"| h | h |\n| --- | --- |\n| {escape(text)} | x |\n")
    cell, last = re.findall(r"<td>(.*?)</td>", page)
    assert last == "x"
    assert not re.search(r"<[a-z/]", cell)
    assert html.unescape(cell).split() == text.split()


@pytest.mark.parametrize("label", ["# 1", "1. a", "- a", "+ a", "---", "2) b"])
def test_a_line_that_begins_like_a_heading_or_a_list_stays_a_line(
    tmp_path: Path, label: str
) -> None:
    from dataclasses import replace

    runs = demo_runs((ARMS[0], replace(ARMS[1], label=label)), n_tasks=6)
    runs[1].n_error = 1
    with open_marts(build_project(tmp_path, runs)) as marts:
        page = GITHUB.render(render_report(panels(marts), "md"))
    assert f"<p>{label} has no score on 1 of 6 tasks" in page
