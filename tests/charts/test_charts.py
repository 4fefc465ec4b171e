from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from statsmodels.stats.multitest import multipletests
from tests.charts.conftest import build_project
from tests.charts.fixture_arms import ARMS, T0, Arm, RunSpec, demo_runs

from evalake_reports import charts
from evalake_reports.charts import Marts, Selection, open_marts, panels
from evalake_reports.charts.declared import Options
from evalake_reports.charts.gallery import CHARTS, draw, draw_across
from evalake_reports.charts.latency import latency_rows, log_ticks, pareto_front
from evalake_reports.charts.paired_rows import paired_rows
from evalake_reports.charts.save import save, to_svg
from evalake_reports.charts.theme import Style
from evalake_warehouse.errors import UsageError
from evalake_warehouse.questions import pair_tests

HTML_LABEL = "<script>alert('x')</script><img src=x onerror=alert(1)>&amp;" + "arm-" * 65
STYLES = {"wide": Style(), "phone": Style(theme="dark", width=300, compact=True, bare=True)}


def rows_of(chart: Any) -> list[dict[str, Any]]:
    """Every data row inside a chart."""
    spec = chart.to_dict()
    return [row for rows in spec.get("datasets", {}).values() for row in rows] + list(inline(spec))


def inline(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        values = (
            part.get("data", {}).get("values", []) if isinstance(part.get("data"), dict) else []
        )
        yield from values
        for value in part.values():
            yield from inline(value)
    elif isinstance(part, list):
        for value in part:
            yield from inline(value)


def colours_of(spec: Any) -> Iterator[tuple[str, str]]:
    """(legend, colour) of every colour scale over legends."""
    if isinstance(spec, dict):
        if str(spec.get("field", "")) == "legend" and "scale" in spec:
            pairs = zip(spec["scale"]["domain"], spec["scale"]["range"], strict=True)
            yield from (pair for pair in pairs if pair[1].startswith("#"))  # others are shapes
        for value in spec.values():
            yield from colours_of(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from colours_of(value)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Marts:
    """Three runs of one arm on growing days, on both splits."""
    runs = [
        RunSpec(arm, n_tasks=12, split=split, started_at=T0 + timedelta(days=day), seed=day)
        for day in range(3)
        for split in ("dev", "test")
        for arm in ARMS[:2]
    ]
    return open_marts(build_project(tmp_path_factory.mktemp("history"), runs))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", sorted(CHARTS.keys() - {"arm_over_time", "ab_splits"}))
def test_every_chart_is_valid_and_becomes_svg_in_every_style(
    demo: Selection, name: str, style: str
) -> None:
    chart = CHARTS[name](demo, Options(style=STYLES[style]))
    chart.to_dict()  # altair checks it against the Vega-Lite schema
    assert to_svg(chart).startswith("<svg")


def test_score_bars_show_what_the_mart_says(demo: Selection) -> None:
    shown = {(row["metric"], row["legend"]): row for row in rows_of(charts.score_bars(demo))
             if "ci_low" in row}  # fmt: skip
    stored = demo.marts.rows("select * from fct_run_metrics where metric = 'recall@5'")
    assert len(stored) == 8
    for row in stored:
        drawn = shown["recall@5", demo.legends[row["run_id"]]]
        assert [drawn[key] for key in ("mean", "ci_low", "ci_high", "chance")] == [
            row[key] for key in ("mean", "ci_low", "ci_high", "chance")
        ]


def test_a_metric_that_no_run_has_is_refused_with_near_names(demo: Selection) -> None:
    with pytest.raises(UsageError, match=r"recall@5"):
        charts.score_bars(demo, metrics=["recal@5"])


def test_an_arm_has_one_colour_in_all_charts(demo: Selection) -> None:
    seen: dict[str, set[str]] = {}
    for drawn in draw(demo, Options()):
        if drawn.chart is not None:
            for legend, colour in colours_of(drawn.chart.to_dict()):
                seen.setdefault(legend, set()).add(colour)
    assert len(seen) == 8
    assert {len(colours) for colours in seen.values()} == {1}


def test_the_default_title_has_dataset_split_and_n(demo: Selection) -> None:
    for drawn in draw(demo, Options()):
        if drawn.chart is not None:
            assert "starter, dev, n = 40 tasks" in drawn.chart.to_dict()["title"]["text"]


def test_every_chart_of_a_score_says_what_chance_would_get(demo: Selection) -> None:
    of_a_score = [
        "score_bars", "method_comparison", "fusion", "reranker", "structure", "breakout_heatmap",
        "quality_against_latency", "quality_against_index_time",
    ]  # fmt: skip
    for name in of_a_score:
        chart = CHARTS[name](demo, Options())
        drawn = {row["chance"] for row in rows_of(chart) if "chance" in row}
        assert drawn == {0.012} or "Chance: 0.012." in str(chart.to_dict()["title"]["subtitle"])


def test_a_title_can_be_given(demo: Selection) -> None:
    assert charts.forest(demo, title="Mine").to_dict()["title"]["text"] == "Mine"


def test_the_forest_has_every_candidate_once_and_neither_baseline_nor_control(
    demo: Selection,
) -> None:
    points = {row["label"]: row for row in rows_of(charts.forest(demo)) if "mean_diff" in row}
    assert set(points) == {arm.label for arm in ARMS} - {"bm25", "random"}
    stored = demo.marts.rows("select * from fct_paired_tests where metric = 'recall@5'")
    by_label = {demo.labels[row["candidate_run_id"]]: row for row in stored}
    for label, row in points.items():
        assert row["mean_diff"] == by_label[label]["mean_diff"]
        assert row["verdict_text"] == by_label[label]["verdict"]


def test_a_pair_that_no_family_declares_is_tested_on_demand(demo_marts: Marts) -> None:
    selection = charts.select(demo_marts, ["ripgrep", "pydocs-dense"], baseline="ripgrep")
    points = [row for row in rows_of(charts.forest(selection)) if "mean_diff" in row]
    means = {
        row["run_id"]: row["mean"]
        for row in demo_marts.rows("select * from fct_run_metrics where metric = 'recall@5'")
    }
    ripgrep, dense = (run.run_id for run in selection.runs)
    assert len(points) == 1
    # On the same tasks, the mean difference is the difference of the means.
    assert points[0]["mean_diff"] == pytest.approx(means[dense] - means[ripgrep], abs=1e-9)
    assert points[0]["diff_low"] < points[0]["mean_diff"] < points[0]["diff_high"]


def test_candidates_tested_on_demand_are_tested_once_and_adjusted_together(
    demo_marts: Marts, monkeypatch: pytest.MonkeyPatch
) -> None:
    arms = ["ripgrep", "pydocs-dense", "pydocs-hybrid", "pydocs-lexical"]
    selection = charts.select(demo_marts, arms, baseline="ripgrep")
    calls = []

    def counted(*arguments: Any, **named: Any) -> list[dict[str, Any]]:
        calls.append(named["metrics"])
        return tests_of_pairs(*arguments, **named)

    tests_of_pairs = pair_tests.pair_tests
    monkeypatch.setattr(pair_tests, "pair_tests", counted)
    found = paired_rows(selection, "recall@5")
    assert paired_rows(selection, "recall@5") == found
    assert calls == [["recall@5"]]
    adjusted = multipletests([row["p_value"] for row in found], method="holm")[1]
    assert len(found) == 3
    assert [row["p_holm"] for row in found] == pytest.approx(list(adjusted), abs=1e-12)
    assert adjusted[0] != found[0]["p_value"]


def test_wins_and_losses_count_tasks(demo: Selection) -> None:
    spec = charts.wins_and_losses(demo).to_dict()
    headings = [panel["title"]["text"] for panel in spec["vconcat"]]
    stored = demo.marts.rows(
        "select candidate_run_id, only_candidate, only_baseline, n_pairs "
        "from fct_paired_tests where metric = 'recall@5'"
    )
    expected = {
        f"{demo.labels[row['candidate_run_id']]}: {row['only_candidate']} won, "
        f"{row['only_baseline']} lost, "
        f"{row['n_pairs'] - row['only_candidate'] - row['only_baseline']} equal"
        for row in stored
    }
    assert set(headings) == expected


def test_search_and_index_times_never_share_a_scale(demo: Selection) -> None:
    search, index = charts.latency_bars(demo).to_dict()["vconcat"]
    assert search["title"]["text"].startswith("search")
    assert index["title"]["text"].startswith("index")
    texts = {row["label"]: row["all_text"] for row in latency_rows(demo, "search")}
    assert texts["bm25"] == "2.10 ms / 4.41 ms / 6.30 ms"


def test_the_pareto_front_is_every_arm_that_none_beats_on_both_counts() -> None:
    arms = [
        ("fast", 0.2, 1),
        ("best", 0.9, 9),
        ("beaten", 0.2, 2),
        ("twin", 0.9, 9),
        ("same time", 0.5, 9),
    ]
    rows = [{"run_id": name, "mean": mean, "seconds": s} for name, mean, s in arms]
    assert pareto_front(rows) == {"fast", "best", "twin"}


def test_ticks_of_a_logarithmic_axis_are_round_numbers() -> None:
    assert log_ticks(0.9, 30) == [1, 2, 5, 10, 20]
    assert log_ticks(0.00002, 2) == pytest.approx([0.0001, 0.001, 0.01, 0.1, 1])


def test_the_shares_of_gold_ranks_sum_to_one_and_count_first_ranks(demo: Selection) -> None:
    rows = [row for row in rows_of(charts.gold_ranks(demo)) if "bucket" in row]
    arms = {row["label"] for row in rows}
    unique = {(row["label"], row["bucket"]): row for row in rows}
    for arm in arms:
        assert sum(r["share"] for k, r in unique.items() if k[0] == arm) == pytest.approx(1)
    firsts = demo.marts.rows(
        "select run_id, sum(value) as n from fct_task_metrics where metric = 'success@1' group by 1"
    )
    for row in firsts:
        label = demo.labels[row["run_id"]]
        assert unique.get((label, "rank 1"), {"n": 0})["n"] == row["n"]


def test_the_heat_map_has_a_cell_per_arm_and_question_type(demo: Selection) -> None:
    cells = {
        (row["label"], row["value"])
        for row in rows_of(charts.breakout_heatmap(demo))
        if "step" in row
    }
    assert len(cells) == 8 * 4


def test_an_arm_over_time_has_a_point_per_run_of_its_split(history: Marts) -> None:
    dev = next(s for s in panels(history) if s.runs[0].split == "dev")
    points = {
        (row["label"], row["at"]) for row in rows_of(charts.arm_over_time(dev)) if "at" in row
    }
    assert len(points) == 2 * 3


def test_two_splits_stand_in_panels_of_their_own(history: Marts) -> None:
    selections = panels(history)
    spec = charts.ab_splits(selections).to_dict()
    titles = [panel["title"]["text"] for panel in spec["hconcat"]]
    assert titles == ["dev, n = 12 tasks", "test, n = 12 tasks"]
    assert [d.name for d in draw_across(selections, Options())] == ["ab_splits"]
    with pytest.raises(UsageError, match="two splits"):
        charts.ab_splits(selections[:1])


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("fusion", {"pydocs-lexical", "pydocs-dense"}, "pydocs-hybrid"),
        ("reranker", {"pydocs-hybrid"}, "pydocs-hybrid-rerank"),
        ("structure", {"pydocs-hybrid"}, "pydocs-hybrid-graph"),
    ],
)
def test_a_change_is_shown_against_what_it_changed(
    demo: Selection, kind: str, before: set[str], after: str
) -> None:
    rows = [row for row in rows_of(charts.before_after(demo, kind=kind)) if "after" in row]
    assert {row["label"] for row in rows if not row["after"]} == before
    assert {row["label"] for row in rows if row["after"]} == {after}


def test_one_arm_alone_is_drawn_and_what_needs_two_is_skipped_with_a_reason(
    tmp_path: Path,
) -> None:
    with open_marts(build_project(tmp_path, demo_runs(ARMS[2:3], n_tasks=12))) as marts:
        drawn = {one.name: one for one in draw(panels(marts)[0], Options())}
    assert drawn["score_bars"].chart is not None
    assert drawn["latency_bars"].chart is not None
    assert drawn["forest"].chart is None
    assert "no baseline" in drawn["forest"].reason


def test_a_run_without_scores_is_named_and_never_drawn_as_zero(tmp_path: Path) -> None:
    runs = demo_runs(ARMS[:2], n_tasks=8)
    runs[1].scored = False
    with open_marts(build_project(tmp_path, runs)) as marts:
        selection = panels(marts)[0]
        rows = [r for r in rows_of(charts.score_bars(selection)) if r.get("label") == "ripgrep"]
        assert {row["mean"] for row in rows} == {None}
        assert {row["value_text"] for row in rows} == {"not scored"}
        for one in draw(selection, Options()):
            if one.chart is not None:
                to_svg(one.chart)


def test_where_no_run_has_a_score_every_chart_says_so(tmp_path: Path) -> None:
    runs = demo_runs(ARMS[:2], n_tasks=8)
    for run in runs:
        run.scored = False
    with open_marts(build_project(tmp_path, runs)) as marts:
        drawn = {one.name: one for one in draw(panels(marts)[0], Options())}
    for name in ("forest", "wins_and_losses", "method_comparison", "gold_ranks"):
        assert drawn[name].chart is None
        assert drawn[name].reason


def test_sixty_arms_fit_each_on_a_row_of_its_own(tmp_path: Path) -> None:
    arms = tuple(
        Arm(f"arm-{n:02}", "bm25", {"k": n}, 0.2 + n / 200, 0.001 * (n + 1),
            "baseline" if n == 0 else "candidate")
        for n in range(60)
    )  # fmt: skip
    with open_marts(build_project(tmp_path, demo_runs(arms, n_tasks=6), with_lake=False)) as marts:
        selection = panels(marts)[0]
        svg = to_svg(charts.score_bars(selection, metrics=["recall@5"]))
        assert all(f">arm-{n:02}</text>" in svg for n in range(60))
        drawn = [one for one in draw(selection, Options()) if one.chart is not None]
        assert len(drawn) >= 8
        strips = next(one for one in drawn if one.name == "wins_and_losses").chart.to_dict()
    assert len(strips["vconcat"]) == 12
    assert any("of 59" in line for line in strips["title"]["subtitle"])


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Selection:
    arms = (Arm(HTML_LABEL, "bm25", {"name": HTML_LABEL}, 0.4, 0.01, "baseline"), ARMS[2])
    project = build_project(tmp_path_factory.mktemp("hostile"), demo_runs(arms, n_tasks=8))
    return panels(open_marts(project))[0]


def test_a_label_with_html_is_text_in_svg(hostile: Selection) -> None:
    for drawn in draw(hostile, Options()):
        if drawn.chart is not None:
            svg = to_svg(drawn.chart)
            assert "<script" not in svg
            assert "<img" not in svg


def test_a_label_with_html_cannot_leave_the_script_of_an_html_chart(
    hostile: Selection, tmp_path: Path
) -> None:
    page = save(charts.score_bars(hostile), tmp_path / "chart.html").read_text()
    assert page.count("<script>") == 2
    assert page.count("</script>") == 2
    assert not re.search(r"(src|href)=[\"']?https?:", page.split("<script>")[0])
    spec = re.search(r'vegaEmbed\("#chart", (\{.*\}), \{renderer', page)
    assert spec is not None
    json.loads(spec[1])


def test_every_format_is_written_whole(demo: Selection, tmp_path: Path) -> None:
    chart = charts.forest(demo)
    starts = {"svg": b"<svg", "png": b"\x89PNG", "json": b"{", "html": b"<!doctype html>"}
    for kind, start in starts.items():
        assert save(chart, tmp_path / "new" / f"forest.{kind}").read_bytes().startswith(start)
    assert sorted(p.suffix for p in (tmp_path / "new").iterdir()) == [
        ".html", ".json", ".png", ".svg"
    ]  # fmt: skip


def test_a_place_that_cannot_be_written_is_named(demo: Selection, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match=r"file/forest\.svg: cannot be written"):
        save(charts.forest(demo), tmp_path / "file" / "forest.svg")
    with pytest.raises(UsageError, match="no chart format 'gif'"):
        save(charts.forest(demo), tmp_path / "forest.gif")


def test_a_read_only_folder_is_named_and_nothing_is_left(
    demo: Selection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, data: bytes) -> int:
        # Root may write anywhere, so the refusal is made here.
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(UsageError, match=r"forest\.json: cannot be written: Permission denied"):
        save(charts.forest(demo), tmp_path / "forest.json")
    assert list(tmp_path.iterdir()) == []


# What a chart compiler, an SVG parser or a terminal acts on, and scripts that must be drawn.
HOSTILE = (
    *(chr(code) for code in range(0x20)), "\x7f", "\x85", "\x9b", "\u2028", "\u2029", "\u202e",
    "\ufeff", "\ufffe", "\ud800", "\U000e0041", "\\", "'", '"', "`", "$", "{{", "]]>", "&", "<b>",
    "😀" * 100, "👩‍💻", "עברית", "x" * 5_000,
)  # fmt: skip


def test_no_text_stops_the_chart_compiler_and_no_two_become_one(tmp_path: Path) -> None:
    import altair as alt

    values = [{"label": f"a{text}b", "n": number} for number, text in enumerate(HOSTILE)]
    chart = alt.Chart(alt.InlineData(values=values), mark="bar", title="\x1b[31m\u2028").encode(
        y=alt.Y("label:N", sort=[row["label"] for row in values]), x="n:Q"
    )
    for kind in ("svg", "png", "json", "html"):
        save(chart, tmp_path / f"chart.{kind}")
    spec = json.loads((tmp_path / "chart.json").read_text("utf-8"))
    labels = [row["label"] for (rows,) in [spec["datasets"].values()] for row in rows]
    assert len(set(labels)) == len(HOSTILE)
    assert spec["encoding"]["y"]["sort"] == labels
    ElementTree.fromstring((tmp_path / "chart.svg").read_bytes())  # noqa: S314 - our own
