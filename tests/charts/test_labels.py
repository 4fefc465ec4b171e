from __future__ import annotations

import pytest

from evalake_reports.charts import Selection
from evalake_reports.charts.labels import difference, duration, interval, p_value, shorten


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0000312, "31.2 us"),
        (0.00021, "210 us"),
        (0.000_999_9, "1.00 ms"),
        (0.0021, "2.10 ms"),
        (0.148, "148 ms"),
        (0.9999, "1.00 s"),
        (2.5, "2.50 s"),
        (104, "104 s"),
        (None, "–"),  # noqa: RUF001 - an en dash
    ],
)
def test_a_duration_has_three_figures_and_the_unit_that_suits_it(
    seconds: float | None, shown: str
) -> None:
    assert duration(seconds) == shown


def test_an_interval_is_written_with_its_mean() -> None:
    assert interval(0.7419, 0.6561, 0.8123) == "0.742 [0.66, 0.81]"
    assert interval(0.5, None, None) == "0.500"
    assert interval(None, None, None) == "not scored"


def test_a_difference_always_has_its_sign() -> None:
    assert difference(0.042, -0.01, 0.075) == "+0.042 [\u22120.010, +0.075]"


def test_a_p_value_never_reads_as_zero() -> None:
    assert p_value(0.0) == "p < 0.001"
    assert p_value(0.0123) == "p = 0.012"


def test_a_long_name_loses_its_middle_and_stays_on_one_line() -> None:
    name = "configs/" + "very-long-" * 30 + "rerank\nk60"
    shown = shorten(name, 30)
    assert len(shown) == 30
    assert shown.startswith("configs/")
    assert shown.endswith("k60")
    assert "\n" not in shown


def test_marks_that_turn_text_around_are_written_out() -> None:
    assert shorten("a\u202egpj.exe") == "a\\u202egpj.exe"


def test_the_legend_names_system_config_label_commit_and_n(demo: Selection) -> None:
    legends = {demo.labels[run_id]: text for run_id, text in demo.legends.items()}
    assert legends["pydocs-hybrid"] == "pydocs-mcp / hybrid (pydocs-hybrid) [9f3c2ab, n=40]"
