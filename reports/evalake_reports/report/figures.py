"""Charts for the page: SVG whose colours follow the page's theme, in a wide and a narrow layout."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

from evalake_reports.charts.palette import EVERY_COLOUR, Colour
from evalake_reports.charts.save import to_svg
from evalake_reports.charts.theme import Style
from evalake_reports.report.compact_charts import slim
from evalake_reports.report.tables import Figure
from evalake_warehouse.errors import UsageError
from evalake_warehouse.shown import shown

WIDE = Style(width=520, bare=True)
NARROW = Style(width=310, compact=True, bare=True)
_KNOWN = {colour.light for colour in EVERY_COLOUR}
_COLOUR = re.compile(r'"(#[0-9a-f]{6})"')
_IDS = re.compile(r'((?:id="|url\(#|href="#))((?:clip|gradient|mask|pattern)[\w-]*)')
_SIZE = re.compile(r'^<svg([^>]*?) width="([\d.]+)" height="([\d.]+)"')


def figure(
    name: str,
    title: str,
    draw: Callable[[Style], Any],
    *,
    wide: Style | None = WIDE,
    note: str = "",
) -> Figure | None:
    """A chart in both layouts, or in the narrow one only; None where there is nothing to draw."""
    from altair.utils.schemapi import debug_mode

    try:
        # Checking every part against the schema costs half the time, and tests do it.
        with debug_mode(False):
            narrow = themed(to_svg(draw(NARROW)), f"{name}-n", title)
            broad = None if wide is None else themed(to_svg(draw(wide)), f"{name}-w", title)
    except UsageError:
        return None
    return Figure(name, title, broad, narrow, note)


def themed(svg: str, prefix: str, title: str) -> str:
    """SVG to put into a page: theme colours as CSS variables, ids of its own, a name, no size."""
    svg = _COLOUR.sub(lambda m: f'"{_variable(m[1])}"' if m[1] in _KNOWN else m[0], svg)
    svg = slim(svg)
    svg = _IDS.sub(rf"\g<1>{_slug(prefix)}-\2", svg)
    label = html.escape(shown(title))
    return _SIZE.sub(
        rf'<svg role="img" aria-label="{_literal(label)}" style="max-width:\2px"\1', svg, count=1
    )


def theme_variables() -> tuple[str, str]:
    """CSS declarations of every chart colour, for the light and for the dark theme."""
    light = "".join(f"{_name(c.light)}:{c.light};" for c in EVERY_COLOUR)
    dark = "".join(f"{_name(c.light)}:{c.dark};" for c in EVERY_COLOUR)
    return light, dark


def css_colour(colour: Colour) -> str:
    """A chart colour as a CSS value that follows the page's theme."""
    return _variable(colour.light)


def _name(colour: str) -> str:
    return f"--k{colour[1:]}"


def _variable(colour: str) -> str:
    return f"var({_name(colour)})"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _literal(text: str) -> str:
    """A text escaped for use as a regular expression's replacement."""
    return text.replace("\\", r"\\")
