"""Fixtures of the runner tests: a project that is no checkout, and a toy dataset in it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from evalake_warehouse.project import Project

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from toy import ROOT, SYSTEMS, ingest_toy  # noqa: E402


@pytest.fixture(autouse=True)
def _systems_under_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SYSTEMS))


@pytest.fixture(scope="session")
def toy_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the toy dataset of 12 tasks, ingested once."""
    home = tmp_path_factory.mktemp("toy") / "home"
    home.mkdir()
    ingest_toy(Project(home=home, data_dir=ROOT))
    return home


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A project folder without `.git`: looks must not end up in this repository."""
    folder = tmp_path / "project"
    for part in ("configs", "warehouse/dbt-project", "models"):
        shutil.copytree(ROOT / part, folder / part)
    return folder


@pytest.fixture
def toy(toy_home: Path, tmp_path: Path, data_dir: Path) -> Project:
    """A fresh copy of the toy home."""
    home = tmp_path / "home"
    shutil.copytree(toy_home, home)
    return Project(home=home, data_dir=data_dir)
