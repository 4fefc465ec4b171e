from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalake_runners.adapters.protocol import CorpusView
from evalake_runners.adapters.pydocs_mcp import versions
from evalake_warehouse.errors import SystemFailedError
from evalake_warehouse.project import find_project_dir

from .conftest import Make


@pytest.fixture(autouse=True)
def _fresh_check() -> Iterator[None]:
    versions.require_supported.cache_clear()
    yield
    versions.require_supported.cache_clear()


@pytest.mark.parametrize(
    ("version", "speaks"),
    [
        ("0.6.0", False),
        ("0.6.1", True),
        ("0.8.1", True),
        ("0.9.0", False),
        ("unknown", False),
    ],
)
def test_the_range_of_versions_it_speaks(version: str, speaks: bool) -> None:
    assert versions.is_supported(version) is speaks


def test_the_range_is_the_one_that_is_installed_with_evalake() -> None:
    pyproject = find_project_dir() / "pyproject.toml"
    if not pyproject.is_file():
        pytest.skip("installed without its pyproject.toml")
    required = tomllib.loads(pyproject.read_text())["project"]["dependencies"]
    assert f"pydocs-mcp{versions.SUPPORTED}" in [re.sub(r"\s", "", line) for line in required]


def test_the_installed_version_has_everything_that_is_called() -> None:
    assert versions.missing_names() == []
    assert versions.diagnose()[0].ok


def test_another_version_is_refused_before_anything_is_indexed(
    shop: tuple[CorpusView, Path], make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(versions, "installed_version", lambda: "1.4.0")
    with pytest.raises(
        SystemFailedError, match=r"1\.4\.0 is installed; this adapter speaks"
    ) as told:
        make().index(shop[0], tmp_path)
    assert told.value.hint == 'pip install "pydocs-mcp>=0.6.1,<0.9"'
    assert versions.diagnose()[0].ok is False


def test_a_name_that_has_gone_is_drift_even_at_a_known_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr("pydocs_mcp.extraction.build_ingestion_pipeline")
    with pytest.raises(SystemFailedError, match="build_ingestion_pipeline is gone"):
        versions.require_supported()
    assert versions.diagnose()[0].ok is False


def test_an_optional_part_that_is_absent_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    optional = versions.diagnose()[1:]
    assert {finding.ok for finding in optional} == {None}
    assert all(finding.hint for finding in optional)
