"""Colours that a colour-blind reader can tell apart, and which arm has which.

The eight arm colours were chosen by search: one per hue, with the largest possible smallest
OKLab distance between any two as seen with normal sight, protanopia and deuteranopia, and a
contrast of at least 2.6 with the background. Two colours stand for one arm: one on a light
background, one on a dark one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evalake_warehouse.errors import UsageError
from evalake_warehouse.questions.runs import Run

ThemeName = Literal["light", "dark"]


@dataclass(frozen=True, slots=True)
class Colour:
    """One colour in both themes, as `#rrggbb`."""

    light: str
    dark: str

    def on(self, theme: ThemeName) -> str:
        """The variant for a background."""
        return self.dark if theme == "dark" else self.light


ARM_COLOURS: tuple[Colour, ...] = (
    Colour("#296cd8", "#488bfb"),
    Colour("#f37513", "#f37514"),
    Colour("#50a187", "#47edbf"),
    Colour("#8f4478", "#cd879c"),
    Colour("#3bacda", "#60ccfc"),
    Colour("#77601b", "#f4c947"),
    Colour("#591f97", "#7a659e"),
    Colour("#703133", "#ac5346"),
)
CONTROL = Colour("#8b949e", "#7d8793")
INK = Colour("#1f2328", "#e6e9ed")
MUTED = Colour("#5d6670", "#9aa4af")
GRID = Colour("#e3e6ea", "#2b313a")
PAPER = Colour("#ffffff", "#14181d")
WIN = Colour("#1b6ec2", "#5ba3f5")
LOSS = Colour("#c2561b", "#f08a4b")
# From "nothing" to "everything", in steps: one hue, so that only lightness carries the value.
STEPS: tuple[Colour, ...] = (
    Colour("#f3f6fa", "#1b222b"),
    Colour("#d9e6f4", "#1c3048"),
    Colour("#b4d0ec", "#1d416a"),
    Colour("#84b3e0", "#22568f"),
    Colour("#5292d0", "#3272b8"),
    Colour("#2a6db3", "#5795dc"),
    Colour("#164a86", "#8dbcf2"),
)
# Text on a step: dark ink on the pale half, white on the other.
STEP_INK: tuple[Colour, ...] = (
    *[Colour("#1f2329", "#e6e9ee")] * 4,
    Colour("#fffffe", "#e6e9ee"),
    *[Colour("#fffffd", "#0d1116")] * 2,
)
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")

EVERY_COLOUR: tuple[Colour, ...] = (
    *ARM_COLOURS,
    CONTROL,
    INK,
    MUTED,
    GRID,
    PAPER,
    WIN,
    LOSS,
    *STEPS,
    *STEP_INK,
)


@dataclass(frozen=True, slots=True)
class ArmStyle:
    """How an arm looks in every chart."""

    colour: Colour
    shape: str


def arm_styles(
    runs: Sequence[Run], colours: Sequence[Colour] = ARM_COLOURS
) -> Mapping[str, ArmStyle]:
    """Colour and shape per arm hash.

    Arms take the colours in the order in which they first ran, controls are grey. So an arm
    keeps its colour however runs are selected, a later arm changes no earlier one, and arms
    first run together (one sweep) differ as long as there are colours. Past those, the
    colours come round again with another shape.

    Args:
        runs: every run of the warehouse, oldest first.
    """
    styles: dict[str, ArmStyle] = {}
    candidates = controls = 0
    for run in runs:
        if run.arm_hash in styles:
            continue
        if run.is_control:
            styles[run.arm_hash] = ArmStyle(CONTROL, SHAPES[controls % len(SHAPES)])
            controls += 1
        else:
            turn, slot = divmod(candidates, len(colours))
            styles[run.arm_hash] = ArmStyle(colours[slot], SHAPES[turn % len(SHAPES)])
            candidates += 1
    return styles


def parse_palette(text: str) -> tuple[Colour, ...]:
    """Colours from `#rrggbb,#rrggbb,...`, the same on both backgrounds.

    Raises:
        UsageError: something in the list is no such colour.
    """
    parts = [part.strip().lower() for part in text.split(",")]
    wrong = [part for part in parts if not _is_hex(part)]
    if wrong:
        raise UsageError(
            f"no colour of the form #rrggbb: {', '.join(map(repr, wrong))}",
            where="--palette",
            hint="--palette '#296cd8,#f37513,#50a187'",
        )
    return tuple(Colour(part, part) for part in parts)


def _is_hex(text: str) -> bool:
    return len(text) == 7 and text[0] == "#" and all(c in "0123456789abcdef" for c in text[1:])
