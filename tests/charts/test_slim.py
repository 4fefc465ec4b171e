"""The report's SVG is smaller than Vega's, and shows the same."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
import vl_convert
from PIL import Image

from evalake_reports.charts import Selection
from evalake_reports.charts.declared import Options
from evalake_reports.charts.gallery import CHARTS
from evalake_reports.charts.save import to_svg
from evalake_reports.charts.theme import FONT, Style
from evalake_reports.report.compact_charts import slim


def pixels(svg: str) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(vl_convert.svg_to_png(svg))).convert("RGB"), dtype=int)


@pytest.mark.parametrize(
    "name", ["score_bars", "forest", "breakout_heatmap", "gold_ranks", "latency_bars", "structure"]
)
def test_the_picture_stays_the_same_in_half_the_text(demo: Selection, name: str) -> None:
    before = to_svg(CHARTS[name](demo, Options(dimension="qa_type", style=Style(bare=True))))
    after = slim(before)
    assert len(after) < 0.5 * len(before)
    old, new = pixels(before), pixels(after)
    assert old.shape == new.shape
    assert new.std() > 10  # something is drawn
    # Places are rounded to a hundredth of a pixel, which a few edges show: a colour that is lost
    # changes some pixel by more than 64, and all of them by more in the mean.
    assert np.abs(old - new).max() <= 64
    assert np.abs(old - new).mean() <= 0.02
    assert re.findall(r">([^<>]+)</text>", after) == re.findall(r">([^<>]+)</text>", before)


def test_what_all_marks_share_is_said_once_and_the_rest_stays() -> None:
    marks = (
        '<text fill="red" font-size="9px" opacity="1">a</text>'
        '<text fill="red" font-size="8px" opacity="0.5">b</text>'
    )
    assert slim(f'<svg width="9"><g class="x">{marks}</g></svg>') == (
        f'<svg font-family="{FONT}" width="9"><g fill="red">'
        '<text font-size="9px">a</text><text font-size="8px" opacity="0.5">b</text></g></svg>'
    )


def test_numbers_are_rounded_and_text_is_not() -> None:
    label = 'class="0.12345" opacity="1"'
    svg = slim(f'<svg><path d="M1.23456,-0.0001L5e-17,10.999"/><text> {label}</text></svg>')
    assert 'd="M1.23,0L5e-17,11"' in svg
    assert f"> {label}<" in svg
