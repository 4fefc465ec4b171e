"""The one look of all charts: type, axes, spacing, in light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evalake_reports.charts.labels import shorten
from evalake_reports.charts.labels import title as default_title
from evalake_reports.charts.palette import GRID, INK, MUTED, PAPER, Colour, ThemeName

if TYPE_CHECKING:
    from typing import TypeAlias

    import altair as alt

    from evalake_reports.charts.selection import Selection

    AnyChart: TypeAlias = alt.Chart | alt.LayerChart | alt.HConcatChart | alt.VConcatChart

FONT = "Inter, 'Segoe UI', Helvetica, Arial, sans-serif"
ROW_HEIGHT = 24
COMPACT_ROW_HEIGHT = 42
MAX_LEGEND_ROWS = 24
_MAX_LINES, _MAX_LINE_CHARS = 4, 140  # of cautions


@dataclass(frozen=True, slots=True)
class Style:
    """How a chart is laid out.

    `compact` puts each row's name above its mark, so that a chart fits a phone; `bare` leaves
    out title and legend, for a page that has its own.
    """

    theme: ThemeName = "light"
    width: int = 420
    compact: bool = False
    bare: bool = False

    @property
    def row_height(self) -> int:
        """Pixels for one arm."""
        return COMPACT_ROW_HEIGHT if self.compact else ROW_HEIGHT

    def hex(self, colour: Colour) -> str:
        """A colour on this style's background."""
        return colour.on(self.theme)

    def at_width(self, width: int) -> Style:
        """The same style at another plot width."""
        return replace(self, width=width)


DEFAULT = Style()


def finish(
    chart: Any,
    selection: Selection,
    style: Style,
    *,
    what: str,
    note: str | Sequence[str] = "",
    title: str | None = None,
) -> AnyChart:
    """Add title and look to a chart, after which it is complete and cannot be composed further.

    Args:
        what: the measure shown, e.g. `recall@5`; stands before the dataset in a default title.
        note: how to read the marks, as a line under the title.
    """
    import altair as alt

    if not style.bare:
        notes = [note] if isinstance(note, str) else list(note)
        notes += _caution_lines(selection)
        chart = chart.properties(
            title=alt.TitleParams(
                text=title or f"{what} · {default_title(selection.runs)}",
                subtitle=[line for line in notes if line],
            )
        )
    finished: AnyChart = chart.configure(**look(style))
    return finished


def _caution_lines(selection: Selection) -> list[str]:
    """What to know of the arms shown, in few lines: those that allow no verdict first."""
    told = [
        (not caution.is_suspect, f"{selection.labels[run.run_id]}: {caution.text}")
        for run in selection.runs
        for caution in selection.cautions[run.run_id]
    ]
    lines = [text for _, text in sorted(told, key=lambda one: one[0])]
    lines += [caution.text for caution in selection.shared_cautions]
    more = [f"and {len(lines) - _MAX_LINES} more: evalake leaderboard"]
    shown = lines[:_MAX_LINES] + (more if len(lines) > _MAX_LINES else [])
    return [shorten(line, _MAX_LINE_CHARS) for line in shown]


def look(style: Style) -> dict[str, Any]:
    """Vega-Lite configuration for a style."""
    ink, muted, grid = style.hex(INK), style.hex(MUTED), style.hex(GRID)
    return {
        "background": style.hex(PAPER),
        "font": FONT,
        "padding": 4 if style.bare else 16,
        "view": {"stroke": None},
        "bar": {"cornerRadiusEnd": 1.5},
        "text": {"color": ink, "fontSize": 12},
        "axis": {
            "labelColor": muted,
            "labelFontSize": 11,
            "titleColor": muted,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "gridColor": grid,
            "domain": False,
            "ticks": False,
            "labelPadding": 6,
            "labelLimit": 0,  # labels are short, and a limit doubles the time to measure them
        },
        "axisY": {"labelColor": ink, "labelFontSize": 12},
        "title": {
            "anchor": "start",
            "frame": "group",
            "color": ink,
            "fontSize": 14,
            "fontWeight": 600,
            "subtitleColor": muted,
            "subtitleFontSize": 11.5,
            "subtitlePadding": 6,
            "offset": 14,
        },
        "legend": {
            "labelColor": muted,
            "titleColor": muted,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "labelLimit": 720,
            "symbolStrokeWidth": 0,
            "orient": "bottom",
            "direction": "vertical",
            "columns": 1,
            "symbolLimit": 0,
        },
        "header": {"labelColor": ink, "labelFontSize": 12, "titleColor": muted},
        "concat": {"spacing": 28},
    }
