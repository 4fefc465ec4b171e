from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.charts.conftest import build_project
from tests.charts.fixture_arms import ARMS, PROJECT_DIR, demo_runs

from evalake_reports.charts import Selection, open_marts, panels
from evalake_reports.report import readme
from evalake_warehouse.errors import UsageError

BODY = f"# Title\n\n{readme.START}\nold\n{readme.END}\n\nThe end.\n"


@pytest.fixture(scope="module")
def snapshot(demo: Selection) -> dict[str, Any]:
    # Through JSON, as it is kept.
    kept: dict[str, Any] = json.loads(json.dumps(readme.take_snapshot(demo, PROJECT_DIR)))
    return kept


def words(svg: str) -> list[str]:
    """All text of a picture, and every value drawn; places depend on the machine's fonts."""
    return re.findall(r">([^<>]+)</text>", svg) + re.findall(r'aria-label="([^"]*)"', svg)


def test_only_the_marked_block_is_replaced(snapshot: dict[str, Any]) -> None:
    text = readme.render(snapshot, BODY)[Path("README.md")]
    assert text.startswith(f"# Title\n\n{readme.START}\n`make demo` on starter, dev, n = 40 tasks")
    assert text.endswith(f"{readme.END}\n\nThe end.\n")
    assert "old" not in text
    assert readme.render(snapshot, text)[Path("README.md")] == text


def test_the_table_has_every_arm_with_its_mean(demo: Selection, snapshot: dict[str, Any]) -> None:
    text = readme.render(snapshot, BODY)[Path("README.md")]
    stored = demo.marts.rows("select * from fct_run_metrics where metric = 'recall@5'")
    for row in stored:
        assert re.search(rf"\| {demo.labels[row['run_id']]} \|.*{row['mean']:.3f} ", text)


def test_every_picture_named_in_the_text_is_made(snapshot: dict[str, Any]) -> None:
    files = readme.render(snapshot, BODY)
    named = set(re.findall(r'(?:src|srcset)="([^"]+)"', files[Path("README.md")]))
    assert named == {str(path) for path in files if path.suffix == ".svg"}
    assert len(named) == 4


def test_pictures_are_those_drawn_from_the_marts_themselves(
    demo: Selection, snapshot: dict[str, Any]
) -> None:
    from evalake_reports.charts import forest
    from evalake_reports.charts.save import to_svg

    drawn = readme.render(snapshot, BODY)[Path("docs/images/demo-forest.svg")]
    assert words(drawn) == words(to_svg(forest(demo)))


def test_a_readme_without_the_marks_is_refused(snapshot: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="the page needs a line"):
        readme.render(snapshot, "# Title\n")


def test_a_changed_score_is_told_and_a_changed_time_is_not(
    demo: Selection, snapshot: dict[str, Any], tmp_path: Path
) -> None:
    assert readme.differences(demo, snapshot) == []
    runs = demo_runs(n_tasks=40)
    runs[1].seed = 99
    with open_marts(build_project(tmp_path, runs)) as marts:
        told = readme.differences(panels(marts)[0], snapshot)
    assert {line.split(":")[0] for line in told} == {"ripgrep"}
    slower = json.loads(json.dumps(snapshot))
    for row in slower["fct_run_latency"]:
        row["p50_s"] *= 2
    assert readme.differences(demo, slower) == []


def test_an_arm_that_came_or_went_is_told(snapshot: dict[str, Any], tmp_path: Path) -> None:
    with open_marts(build_project(tmp_path, demo_runs(ARMS[:7], n_tasks=40))) as marts:
        told = readme.differences(panels(marts)[0], snapshot)
    assert "random: in one of the two only" in told


def test_any_changed_input_of_the_demo_changes_the_hash(tmp_path: Path) -> None:
    sweep = tmp_path / "configs/sweeps/demo.yaml"
    definitions = tmp_path / "warehouse/dbt-project/seeds/metric_definitions.csv"
    for path in (sweep, definitions):
        path.parent.mkdir(parents=True)
    head = "metric,measure,cutoff,formula\nrecall@5,recall,5,"
    sweep.write_text("depth: 10")
    definitions.write_text(f"{head}found / R\n")
    before = readme.inputs_hash(tmp_path, "recall@5")
    others = "recall@9,recall,9,found / R\nrprec,rprec,,found in R / R\n"
    definitions.write_text(f"{head}found / R\n{others}")
    assert (
        readme.inputs_hash(tmp_path, "recall@5") == before
    )  # no figure that stands there is another
    definitions.write_text(f"{head}found / k\n")
    assert readme.inputs_hash(tmp_path, "recall@5") != before
    definitions.write_text(f"{head}found / R\n")
    sweep.write_text("depth: 20")
    assert readme.inputs_hash(tmp_path, "recall@5") != before


kept = PROJECT_DIR / readme.SNAPSHOT


@pytest.mark.skipif(not kept.is_file(), reason="`make readme` was never run")
def test_readme_says_what_the_kept_rows_say() -> None:
    """README.md and its pictures are what `make readme` makes of docs/images/demo.json."""
    text = (PROJECT_DIR / "README.md").read_text("utf-8")
    files = readme.render(json.loads(kept.read_text("utf-8")), text)
    assert files.pop(Path("README.md")) == text
    for path, content in files.items():
        found = (PROJECT_DIR / path).read_text("utf-8")
        assert words(found) == words(content), f"{path} is stale: make demo readme"


@pytest.mark.skipif(not kept.is_file(), reason="`make readme` was never run")
def test_the_demo_is_still_the_one_that_readme_was_made_from() -> None:
    snapshot = json.loads(kept.read_text("utf-8"))
    assert snapshot["inputs"] == readme.inputs_hash(PROJECT_DIR, snapshot["primary_metric"]), (
        "stale: make demo readme"
    )
