"""Shared fixtures: every test has a home of its own, and no test sees the user's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evalake_warehouse.build.compiled_models import CompiledModels, compile_models
from evalake_warehouse.project import Project, find_project_dir

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def new_user(tmp_path_factory: pytest.TempPathFactory) -> Callable[[pytest.MonkeyPatch], None]:
    """Sets a home folder of its own, whose cache shares what dbt made of the models, no more.

    That is shared by all tests of all workers.
    """
    base = tmp_path_factory.getbasetemp()
    kept = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "kept-statements"
    kept.mkdir(exist_ok=True)

    def set_home(monkeypatch: pytest.MonkeyPatch) -> None:
        home = tmp_path_factory.mktemp("user")
        (home / "cache" / "evalake").mkdir(parents=True)
        (home / "cache" / "evalake" / "statements").symlink_to(kept)
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))

    return set_home


@pytest.fixture(scope="session", autouse=True)
def _no_one_s_home(new_user: Callable[[pytest.MonkeyPatch], None]) -> Iterator[None]:
    """For fixtures that are made before a test has its own home."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        new_user(monkeypatch)
        yield


@pytest.fixture(autouse=True)
def _isolated_home(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    new_user: Callable[[pytest.MonkeyPatch], None],
) -> None:
    new_user(monkeypatch)
    monkeypatch.setenv("EVALAKE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("EVALAKE_LOOKS", str(tmp_path / "looks.jsonl"))
    monkeypatch.setenv("EVALAKE_BASELINES", str(tmp_path / "baselines"))
    monkeypatch.delenv("EVALAKE_PROJECT_DIR", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return Project(home=home, data_dir=find_project_dir(ROOT))


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> CompiledModels:
    """All models, compiled once for a test session."""
    home = tmp_path_factory.mktemp("compile")
    return compile_models(Project(home=home, data_dir=find_project_dir(ROOT)))
