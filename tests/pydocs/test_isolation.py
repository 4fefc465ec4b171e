from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalake_runners.adapters.pydocs_mcp.isolation import isolated, isolated_environment


def test_homes_and_caches_lie_in_the_index_while_pydocs_mcp_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    before = dict(os.environ)
    with isolated(tmp_path, offline=True):
        assert Path.home() == tmp_path
        assert os.environ["XDG_CACHE_HOME"].startswith(str(tmp_path))
        assert os.environ["XDG_CONFIG_HOME"].startswith(str(tmp_path))
        assert os.environ["HF_HUB_OFFLINE"] == "1"
        os.environ["LEFT_BEHIND"] = "1"
    assert dict(os.environ) == before


def test_the_environment_comes_back_after_a_failure(tmp_path: Path) -> None:
    before = dict(os.environ)
    with pytest.raises(RuntimeError), isolated(tmp_path, offline=False):
        raise RuntimeError
    assert dict(os.environ) == before


def test_only_what_would_configure_pydocs_mcp_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYDOCS_LLM__MODEL_NAME", "other")
    monkeypatch.setenv("OPENAI_API_KEY", "kept for a hosted embedder")
    environment = isolated_environment(tmp_path, offline=False)
    assert "PYDOCS_LLM__MODEL_NAME" not in environment
    assert environment["OPENAI_API_KEY"] == "kept for a hosted embedder"
    assert "HF_HUB_OFFLINE" not in environment or "HF_HUB_OFFLINE" in os.environ
