from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.charts.fixture_arms import PROJECT_DIR

from evalake_reports import charts
from evalake_reports.charts.gallery import NAMES
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


def test_the_page_names_every_chart_and_every_function() -> None:
    assert [name for name in NAMES if f"`{name}`" not in PAGE] == []
    functions = set(charts.__all__) - {"Marts", "Run", "Selection", "Style"}
    assert [name for name in sorted(functions) if f"{name}" not in PAGE] == []


def test_every_public_name_is_there_and_documented() -> None:
    assert sorted(charts.__all__) == charts.__all__
    for name in charts.__all__:
        assert getattr(charts, name).__doc__
