from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.charts.fixture_arms import PROJECT_DIR

from evalake_reports import charts
from evalake_reports.charts import declared
from evalake_reports.charts.declared import Options, declare, declared_charts
from evalake_reports.charts.gallery import CHARTS
from evalake_reports.report import charts_page
from evalake_warehouse.project import Project

PAGE = (PROJECT_DIR / "docs" / "charts.md").read_text("utf-8")


def test_the_notebook_example_runs_and_draws(
    demo_project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALAKE_HOME", str(demo_project.home))
    monkeypatch.chdir(tmp_path)
    [example] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(example, "docs/charts.md", "exec"), names)  # noqa: S102 - our own page
    assert (tmp_path / "scores.svg").read_text().startswith("<svg")
    assert names["scores"].to_dict()["hconcat"]  # type: ignore[attr-defined]


def test_the_page_has_the_charts_as_they_are_declared() -> None:
    assert charts_page.render_charts_page(PAGE) == PAGE
    assert charts_page.render_charts_page(PAGE.replace("`forest`", "`wood`")) == PAGE
    assert [name for name in charts.__all__ if name.islower() and name not in PAGE] == []


def test_every_public_name_is_there_and_documented() -> None:
    assert sorted(charts.__all__) == charts.__all__
    functions = {chart.function.__name__ for chart in CHARTS.values()}
    assert {*charts.__all__, *functions} == set(dir(charts))
    for name in dir(charts):
        assert getattr(charts, name).__doc__
    assert {name for name in CHARTS if not CHARTS[name].shows} == set()


def test_a_name_that_is_no_chart_is_none() -> None:
    with pytest.raises(AttributeError, match="no attribute 'pie'"):
        charts.pie  # noqa: B018


def test_a_chart_declared_in_a_module_is_drawn_and_taken_by_its_parameters() -> None:
    @declare("nothing", group="time", name="of_a_test", kind="fixed")
    def drawn(selection: object, *, metric: str | None, kind: str) -> tuple[object, ...]:
        return selection, metric, kind

    try:
        [chart] = [chart for chart in declared_charts() if chart.name == "of_a_test"]
        assert declared_charts()[-1] == chart
        assert chart("s", Options(metrics=["mrr"], title="t")) == ("s", "mrr", "fixed")  # type: ignore[arg-type]
    finally:
        declared._DECLARED.remove(chart)
