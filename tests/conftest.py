"""Shared fixtures: every test has a home of its own, and no test sees the user's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from bench.compiled import CompiledModels, compile_models

from evalake_warehouse.project import Project, find_project_dir

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def kept_statements(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The one thing that the caches of all tests share, those of other workers too."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "kept-statements"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(autouse=True)
def _isolated_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_statements: Path) -> None:
    cache = tmp_path / "user" / "cache" / "evalake"
    cache.mkdir(parents=True)
    (cache / "statements").symlink_to(kept_statements)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user" / "cache"))
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
