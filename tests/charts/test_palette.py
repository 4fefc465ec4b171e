from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from evalake_reports.charts import Marts, Selection, select
from evalake_reports.charts.palette import (
    ARM_COLOURS,
    CONTROL,
    EVERY_COLOUR,
    PAPER,
    arm_styles,
    parse_palette,
)
from evalake_warehouse.errors import UsageError

# Simulation of colour blindness at full severity, on linear RGB: Machado, Oliveira and
# Fernandes, A physiologically-based model for simulation of color vision deficiency (2009).
SIGHTS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}


def linear(colour: str) -> np.ndarray:
    part = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def oklab(rgb: np.ndarray) -> np.ndarray:
    """Björn Ottosson's OKLab (2020) of linear RGB; just noticeable is about 0.02."""
    to_lms = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    to_lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return to_lab @ np.cbrt(to_lms @ np.clip(rgb, 0, 1))


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio."""
    high, low = sorted(
        (float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other)), reverse=True
    )
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_any_two_arm_colours_can_be_told_apart(theme: str, sight: str) -> None:
    seen = [oklab(SIGHTS[sight] @ linear(getattr(colour, theme))) for colour in ARM_COLOURS]
    closest = min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2))
    assert closest > 0.1  # five times what is just noticeable


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_arm_colours_stand_out_from_the_paper(theme: str) -> None:
    paper = getattr(PAPER, theme)
    assert min(contrast(getattr(c, theme), paper) for c in (*ARM_COLOURS, CONTROL)) > 2.5


def test_each_light_colour_has_one_dark_one_so_that_a_page_can_swap_them() -> None:
    pairs = {(colour.light, colour.dark) for colour in EVERY_COLOUR}
    assert len({light for light, _ in pairs}) == len(pairs)


def test_an_arm_keeps_its_colour_however_runs_are_selected(demo_marts: Marts) -> None:
    everything = select(demo_marts)
    few = select(demo_marts, ["pydocs-hybrid", "ripgrep"])
    for run in few.runs:
        assert few.styles[run.run_id] == everything.styles[run.run_id]


def test_a_later_arm_changes_no_earlier_colour(demo: Selection) -> None:
    runs = demo.marts.runs
    later = replace(runs[0], arm_hash="new", run_id="new")
    before = arm_styles(runs)
    after = arm_styles([*runs, later])
    assert {key: after[key] for key in before} == before
    assert after["new"] not in before.values()


def test_arms_first_run_together_differ_and_controls_are_grey(demo: Selection) -> None:
    candidates = [run for run in demo.runs if not run.is_control]
    colours = {demo.styles[run.run_id].colour for run in candidates}
    assert len(colours) == len(candidates)
    controls = [demo.styles[run.run_id].colour for run in demo.runs if run.is_control]
    assert controls == [CONTROL]


def test_past_the_last_colour_the_shape_changes(demo: Selection) -> None:
    runs = [replace(demo.runs[0], arm_hash=str(n), run_id=str(n)) for n in range(20)]
    styles = list(arm_styles(runs).values())
    assert styles[0].colour == styles[8].colour
    assert len(set(styles)) == 20


def test_a_palette_is_a_list_of_hex_colours() -> None:
    assert [c.light for c in parse_palette("#112233, #AABBCC")] == ["#112233", "#aabbcc"]
    with pytest.raises(UsageError, match="'red'"):
        parse_palette("#112233,red")
