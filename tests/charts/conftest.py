"""Warehouses with synthetic marts, built once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.charts.fixture_arms import PROJECT_DIR, RunSpec, demo_runs
from tests.charts.fixture_marts import build_warehouse

from evalake_reports.charts import Marts, Selection, open_marts, panels
from evalake_warehouse.project import Project


def build_project(home: Path, runs: list[RunSpec], **settings: object) -> Project:
    build_warehouse(home, runs, **settings)  # type: ignore[arg-type]
    return Project(home=home, data_dir=PROJECT_DIR)


@pytest.fixture(scope="session")
def demo_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Eight arms on 40 tasks."""
    return build_project(tmp_path_factory.mktemp("demo"), demo_runs(n_tasks=40))


@pytest.fixture(scope="session")
def demo_marts(demo_project: Project) -> Iterator[Marts]:
    with open_marts(demo_project) as marts:
        yield marts


@pytest.fixture(scope="session")
def demo(demo_marts: Marts) -> Selection:
    return panels(demo_marts)[0]
