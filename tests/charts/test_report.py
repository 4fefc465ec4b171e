from __future__ import annotations

import base64
import gzip
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.charts.conftest import build_project
from tests.charts.fixture_arms import ARMS, Arm, demo_runs
from tests.charts.test_charts import HTML_LABEL

from evalake_reports.charts import Selection, open_marts, panels
from evalake_reports.report import leaderboard, printable, render_report, write_report
from evalake_reports.report.explorer import explorer_data
from evalake_reports.report.packing import pack
from evalake_warehouse.errors import UsageError
from evalake_warehouse.project import Project

ORDER = [
    "Verdict", "Completeness", "Leaderboard", "Paired comparisons", "Breakouts", "Latency",
    "Cost", "Environment", "Drops and caveats", "Tasks",
]  # fmt: skip


class Page(HTMLParser):
    """What a browser would see: headings, tags, addresses, and text outside of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.headings: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.cells: list[str] = []
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self._open.append(tag)
        if tag == "h2":
            self.headings.append("")
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "h2" in self._open[-2:]:
            self.headings[-1] += data.strip()
        if self._open and self._open[-1] in ("td", "th", "i"):
            self.cells[-1] += data


@pytest.fixture(scope="module")
def page_text(demo: Selection, tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_report([demo], tmp_path_factory.mktemp("report") / "report.html").read_text()


@pytest.fixture(scope="module")
def page(page_text: str) -> Page:
    return Page(page_text)


def unpacked(text: str) -> dict[str, Any]:
    found = re.search(r'class="packed">([^<]+)<', text)
    assert found is not None
    data: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found[1])))
    return data


def test_sections_stand_in_their_order(page: Page) -> None:
    assert page.headings == ORDER


def test_nothing_in_the_page_points_outside(page: Page, page_text: str) -> None:
    for tag, name, value in page.attributes:
        if name in ("src", "href", "xlink:href", "action", "srcset", "data", "poster"):
            assert value.startswith(("#", "data:,")), (tag, name, value)
        if name in ("style", "fill", "stroke", "clip-path"):
            assert "url(" not in value.replace("url(#", "")
    assert "@import" not in page_text
    assert not re.search(r"url\((?!#)", page_text)
    # Namespaces are names, not addresses.
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", page_text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_ids_are_unique_although_charts_are_inlined(page: Page) -> None:
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_only_the_pages_own_script_may_run(page: Page, page_text: str) -> None:
    policy = next(v for _, name, v in page.attributes if name == "content" and "default-src" in v)
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[\w+/=]+';", policy)
    assert page.tags.count("script") == 2  # the packed data and the script


def test_tables_hold_every_figure_without_a_script(page: Page, demo: Selection) -> None:
    cells = set(page.cells)
    for row in leaderboard(demo):
        assert row["arm"] in cells
        assert f"{row['mean']:.3f} [{row['ci_low']:.2f}, {row['ci_high']:.2f}]" in cells or (
            row["mean"] == 0
        )


def test_the_page_of_eight_arms_and_120_tasks_is_under_three_megabytes(tmp_path: Path) -> None:
    with open_marts(build_project(tmp_path, demo_runs())) as marts:
        path = write_report(panels(marts), tmp_path / "report.html")
    assert path.stat().st_size < 3_000_000


def test_the_explorer_has_every_task_with_gold_scores_and_hits(
    page_text: str, demo: Selection
) -> None:
    data = unpacked(page_text)
    assert len(data["tasks"]) == 40
    first = data["tasks"][0]
    assert first["id"] == "task-0000"
    assert first["gold"] == [
        {
            "id": "httpx/core.py::function_0",
            "level": "symbol",
            "grade": 1,
            "role": "primary",
            "relations": ["lines", "symbol"],
            "where": "httpx/core.py:1-8",
            "name": "httpx.core.function_0",
        }
    ]
    stored = demo.marts.rows(
        "select run_id, list(rank order by rank) as ranks, count(*) filter (where credited) as n "
        "from fct_hits where task_id = 'task-0000' and relevant group by run_id"
    )
    assert stored
    places = {run.run_id: str(number) for number, run in enumerate(demo.runs)}
    for row in stored:
        hits = data["hits"]["0"][places[row["run_id"]]]
        named = [dict(zip(data["hit_fields"], hit, strict=True)) for hit in hits]
        matches = [hit for hit in named if hit["relation"] >= 0]
        assert {data["words"][hit["relation"]] for hit in matches} == {"symbol"}
        assert [hit["rank"] for hit in matches] == row["ranks"]
        assert sum(hit["credited"] for hit in matches) == row["n"] == 1
    labels = [arm["label"] for arm in data["arms"]]
    assert labels[data["baseline"]] == "bm25"
    assert labels[data["candidate"]] == leaderboard(demo)[0]["arm"]


def test_the_explorer_has_the_first_twenty_hits_of_a_longer_list(tmp_path: Path) -> None:
    with open_marts(build_project(tmp_path, demo_runs(ARMS[:1], n_tasks=1, n_hits=21))) as marts:
        data = explorer_data(panels(marts)[0])
    assert [hit.rank for hit in data["hits"]["0"]["0"]] == list(range(1, 21))


def test_a_failed_task_has_no_score_and_says_why(tmp_path: Path) -> None:
    runs = demo_runs(ARMS[:2], n_tasks=6)
    runs[1].n_error = 2
    with open_marts(build_project(tmp_path, runs)) as marts:
        selection = panels(marts)[0]
        data = explorer_data(selection)
        text = write_report([selection], tmp_path / "r.md").read_text()
    assert data["tasks"][0]["scores"][1] is None
    assert data["tasks"][0]["missing"] == {"1": "error"}
    assert "ripgrep has no score on 2 of 6 tasks (2 error); its mean covers the others" in text
    assert "4 of 6" in text


def test_where_nothing_is_to_be_told_no_column_of_cautions_stands(demo: Selection) -> None:
    assert "caution" not in printable(demo)[0]


def test_a_huge_hit_text_is_cut_and_its_length_kept(tmp_path: Path) -> None:
    project = build_project(tmp_path, demo_runs(ARMS[:2], n_tasks=4), hit_text="x" * 1_000_000)
    with open_marts(project) as marts:
        path = write_report(panels(marts), tmp_path / "report.html")
        text = path.read_text()
    assert path.stat().st_size < 500_000
    [[shown, length]] = unpacked(text)["texts"]
    assert length == 1_000_000
    assert set(shown) == {"x"}
    assert 0 < len(shown) < 5_000


def test_texts_are_cut_until_they_fit_their_share_of_the_page() -> None:
    noise = [os.urandom(600).hex() for _ in range(400)]
    data = {"texts": noise, "tasks": [], "hits": {}}
    assert len(pack(data, budget=120_000)) <= 120_000
    roomy = json.loads(gzip.decompress(base64.b64decode(pack(data, budget=10_000_000))))
    assert roomy["texts"][0] == [noise[0], 1200]


def test_lists_of_hits_are_cut_where_texts_alone_do_not_fit() -> None:
    rows = [[rank, os.urandom(40).hex()] for rank in range(1, 21)]
    data = {"texts": [], "tasks": [], "hits": {"0": {str(arm): rows for arm in range(3)}}}
    cut = json.loads(gzip.decompress(base64.b64decode(pack(data, budget=900))))
    kept = cut["hits"]["0"]["0"]
    assert 0 < len(kept) < 20
    assert kept == rows[: len(kept)]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on labels, queries and hit texts full of HTML."""
    home = tmp_path_factory.mktemp("hostile")
    arms = (Arm(HTML_LABEL, "bm25", {"name": HTML_LABEL}, 0.4, 0.01, "baseline"), ARMS[2])
    attack = "</script></pre><script>document.title='broken'</script><img src=x onerror=alert(1)>"
    project = build_project(
        home, demo_runs(arms, n_tasks=8), hit_text=attack * 3, query_prefix=attack
    )
    with open_marts(project) as marts:
        return write_report(panels(marts), home / "report.html", name=f"A {attack} title")


def test_html_in_labels_queries_and_texts_stays_text(hostile: Path) -> None:
    page = Page(hostile.read_text())
    assert page.tags.count("script") == 2
    assert "img" not in page.tags
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]


def test_html_in_markdown_is_escaped(hostile: Path) -> None:
    from tests.charts.fixture_arms import PROJECT_DIR

    from evalake_warehouse.project import Project

    with open_marts(Project(home=hostile.parent, data_dir=PROJECT_DIR)) as marts:
        texts = [render_report(panels(marts), "md", full=full) for full in (False, True)]
    for text in texts:
        assert "<script" not in text
        assert "<img" not in text


def test_json_has_raw_values_of_the_marts(demo: Selection, tmp_path: Path) -> None:
    report = json.loads(write_report([demo], tmp_path / "report.json").read_text())
    [panel] = report["panels"]
    sections = {section["name"]: section for section in panel["sections"]}
    rows = sections["leaderboard"]["tables"]["leaderboard"]
    stored = {
        row["run_id"]: row["mean"]
        for row in demo.marts.rows("select * from fct_run_metrics where metric = 'recall@5'")
    }
    assert {row["run_id"]: row["mean"] for row in rows} == stored
    assert panel["primary_metric"] == "recall@5"
    assert sections["drops"]["tables"]["drops"]


def test_the_verdict_follows_the_paired_tests(demo: Selection, tmp_path: Path) -> None:
    report = json.loads(write_report([demo], tmp_path / "report.json").read_text())
    lines = report["panels"][0]["sections"][0]["text"]
    stored = demo.marts.rows("select * from fct_paired_tests where metric = 'recall@5'")
    for row in stored:
        label = demo.labels[row["candidate_run_id"]]
        words = {
            "better": f"{label} is better than bm25:",
            "worse": f"{label} is worse than bm25:",
            "insufficient": f"{label} against bm25 is insufficient (a difference is neither",
        }
        assert any(line.startswith(words[row["verdict"]]) for line in lines)


def with_frozen(project: Project, *, family_baseline: bool = True) -> None:
    """Add a frozen baseline, whose rows are those of the family's baseline with another mean."""
    with duckdb.connect(str(project.warehouse)) as connection:
        connection.execute(
            "insert into dim_baselines by name select 'frozen:x' as baseline_run_id, run_id, "
            "'kept.json' as file, arm_hash, arm_label, system, system_version, dataset, edition, "
            "split, 9 as n_tasks, status, started_at from dim_runs where arm_label = 'bm25'"
        )
        connection.execute(
            "insert into fct_paired_tests by name select * replace ('frozen:x' as baseline_run_id, "
            "'frozen' as baseline_kind, 0.625 as mean_diff, 'better' as verdict) "
            "from fct_paired_tests union all select * replace ('frozen:x' as baseline_run_id, "
            "'frozen' as baseline_kind, baseline_run_id as candidate_run_id, 0.0 as mean_diff) "
            "from fct_paired_tests"
        )
        if not family_baseline:
            connection.execute("update dim_run_families set role = 'candidate'")
            connection.execute("delete from fct_paired_tests where baseline_kind = 'run'")


def test_comparisons_with_a_frozen_baseline_are_told_apart_from_the_family_s(
    tmp_path: Path,
) -> None:
    project = build_project(tmp_path, demo_runs(ARMS[:2], n_tasks=9))
    with open_marts(project) as marts:
        [before] = json.loads(render_report(panels(marts), "json"))["panels"]
    with_frozen(project)
    with open_marts(project) as marts:
        [panel] = json.loads(render_report(panels(marts), "json"))["panels"]
        short = render_report(panels(marts), "md")
        page = write_report(panels(marts), tmp_path / "r.html").read_text()
    declared = next(s for s in before["sections"] if s["name"] == "paired")
    sections = {section["name"]: section for section in panel["sections"]}
    assert sections["paired"] == declared
    [row] = sections["frozen-0"]["tables"]["paired recall@5"]  # not bm25, which was frozen
    assert (row["label"], row["mean_diff"]) == ("ripgrep", 0.625)
    own, frozen = [line for line in sections["verdict"]["text"] if line.startswith("ripgrep")]
    assert "bm25 (frozen" not in own
    assert frozen.startswith("ripgrep is better than bm25 (frozen in kept.json): +0.625")
    assert "candidate minus bm25 (frozen in kept.json), on tasks" in short
    assert "<h2>Against bm25 (frozen in kept.json)</h2>" in page
    assert page.count('aria-label="Difference in recall@5"') == 4  # two layouts of each


def test_a_frozen_baseline_serves_where_the_family_has_none(tmp_path: Path) -> None:
    project = build_project(tmp_path, demo_runs(ARMS[:2], n_tasks=9))
    with_frozen(project, family_baseline=False)
    with open_marts(project) as marts:
        [selection] = panels(marts)
        text = render_report([selection], "md", full=True)
        assert selection.baseline is None
    assert "No run has the role of a baseline; frozen ones there are." in text
    assert "ripgrep is better than bm25 (frozen in kept.json): +0.625" in text


def test_without_a_baseline_nothing_is_concluded(tmp_path: Path) -> None:
    with open_marts(build_project(tmp_path, demo_runs(ARMS[2:3], n_tasks=6))) as marts:
        text = render_report(panels(marts), "md", full=True)
        write_report(panels(marts), tmp_path / "r.html")
    assert "No run has the role of a baseline, so nothing is concluded." in text


def test_a_report_where_nothing_was_scored_is_still_written(tmp_path: Path) -> None:
    runs = demo_runs(ARMS[:2], n_tasks=4)
    for run in runs:
        run.scored = False
    with open_marts(build_project(tmp_path, runs)) as marts:
        page = Page(write_report(panels(marts), tmp_path / "r.html").read_text())
    assert page.headings == ORDER


def test_two_splits_are_two_parts_of_one_report(tmp_path: Path) -> None:
    runs = demo_runs(ARMS[:2], n_tasks=6) + demo_runs(ARMS[:2], n_tasks=6, split="test")
    with open_marts(build_project(tmp_path, runs)) as marts:
        text = write_report(panels(marts), tmp_path / "r.html").read_text()
    page = Page(text)
    assert text.count("The same arms on each split") == 3  # a caption, and a name per layout
    assert [text for text in page.headings if text.startswith("starter")] == [
        "starter, dev, edition eeeeeeee (latest), n = 6 tasks",
        "starter, test, edition eeeeeeee (latest), n = 6 tasks",
    ]
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_a_place_that_cannot_be_written_is_named(demo: Selection, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"file/report\.md: cannot be written"):
        write_report([demo], tmp_path / "file" / "report.md")
    with pytest.raises(UsageError, match="no report format 'pdf'"):
        write_report([demo], tmp_path / "report.html", format_name="pdf")


def test_an_ending_without_a_format_is_refused_and_nothing_written(
    demo: Selection, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=r"report\.pdf: a report ends in \.html, \.md, \.json"):
        write_report([demo], tmp_path / "report.pdf")
    assert not list(tmp_path.iterdir())


def test_the_same_marts_give_the_same_page(demo: Selection, tmp_path: Path, page_text: str) -> None:
    assert write_report([demo], tmp_path / "again.html").read_text() == page_text
