"""The build's variables: one list, in Python, in dbt and in the docs."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from evalake_reports.report.metrics_page import render_metrics_page
from evalake_warehouse.build.settings import BuildSettings
from evalake_warehouse.errors import ConfigError
from evalake_warehouse.identity import canonical_json

ROOT = Path(__file__).resolve().parents[2]


def test_dbt_and_python_have_the_same_variables_and_defaults() -> None:
    project = yaml.safe_load((ROOT / "warehouse/dbt-project/dbt_project.yml").read_text())
    assert project["vars"] == BuildSettings().model_dump()


def test_the_metrics_page_is_what_the_definitions_render() -> None:
    assert (ROOT / "docs/metrics.md").read_text() == render_metrics_page(ROOT)


def test_all_wrong_variables_are_reported_at_once_with_what_is_near() -> None:
    with pytest.raises(ConfigError) as caught:
        BuildSettings.parse(["text_treshold=80", "margin=2", "resamples", "text_threshold=40"])
    messages = [str(problem) for problem in caught.value.problems]
    assert "--var text_treshold: unknown variable; did you mean `text_threshold`?" in messages
    assert "--var resamples: write it as name=value" in messages
    assert any(message.startswith("--var margin:") for message in messages)
    assert any("below that floor were stored without their score" in text for text in messages)


def test_a_value_is_read_as_its_type() -> None:
    assert BuildSettings.parse(["resamples=500", "margin=0.1"]).changed() == {
        "resamples": 500,
        "margin": 0.1,
    }


def test_a_kept_value_holds_unless_another_was_named_even_if_that_is_the_default() -> None:
    kept = {"min_pairs": 3, "text_threshold": 100.0, "gone_since": 1}
    assert BuildSettings().over(kept).changed() == {"min_pairs": 3, "text_threshold": 100.0}
    named = BuildSettings.parse(["min_pairs=10", "margin=0.1"])
    assert named.over(kept).changed() == {"text_threshold": 100.0, "margin": 0.1}


def test_a_kept_value_that_is_no_longer_allowed_is_told() -> None:
    with pytest.raises(ConfigError, match="--var min_pairs"):
        BuildSettings().over({"min_pairs": 1})
    assert BuildSettings(min_pairs=4).over({"min_pairs": 1}).min_pairs == 4


def test_a_default_that_is_named_is_the_same_to_a_build_as_one_that_is_not() -> None:
    named = BuildSettings.parse(f"{name}={value}" for name, value in BuildSettings())
    assert canonical_json(named.model_dump()) == canonical_json(BuildSettings().model_dump())
