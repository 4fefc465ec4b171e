"""Charts with one row per arm: names and written-out values that line up with the marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalake_warehouse.charts.palette import INK, MUTED
from evalake_warehouse.charts.theme import MAX_LEGEND_ROWS, Style

if TYPE_CHECKING:
    import altair as alt

    from evalake_warehouse.charts.selection import Selection

Row = Mapping[str, Any]
_CHAR = 6.4  # pixels of an average character at 12 px


def data(rows: Sequence[Row]) -> alt.InlineData:
    """Rows as inline data, so that a chart is complete by itself."""
    import altair as alt

    return alt.InlineData(values=[dict(row) for row in rows])


def band(style: Style, order: Sequence[str], *, field: str = "label", names: bool = True) -> alt.Y:
    """The y channel: one band per name in the order given."""
    import altair as alt

    axis = (
        alt.Axis(title=None, grid=False, labelPadding=8, minExtent=10)
        if names and not style.compact
        else None
    )
    return alt.Y(f"{field}:N", sort=list(order), axis=axis, scale=alt.Scale(padding=0))


def arm_colour(selection: Selection, style: Style, rows: Sequence[Row]) -> alt.Color:
    """The colour channel over the field `legend`, each arm in its own colour."""
    import altair as alt

    shown = list(dict.fromkeys(str(row["legend"]) for row in rows))
    of_legend = {selection.legends[run.run_id]: run for run in selection.runs}
    colours = [style.hex(selection.styles[of_legend[text].run_id].colour) for text in shown]
    hidden = style.bare or len(shown) > MAX_LEGEND_ROWS
    return alt.Color(
        "legend:N",
        sort=shown,
        scale=alt.Scale(domain=shown, range=colours),
        legend=None if hidden else alt.Legend(title=None, symbolType="square", symbolSize=70),
    )


def mark_offset(style: Style) -> float:
    """How far a row's mark is moved down from the middle of its band, in pixels."""
    return style.row_height * 0.2 if style.compact else 0.0


def bar_size(style: Style) -> float:
    """Thickness of a bar in pixels."""
    return 9.0 if style.compact else 13.0


def words(
    style: Style, y: alt.Y, columns: Sequence[tuple[str, int]], *, label_field: str = "label"
) -> list[alt.Chart]:
    """Text beside the marks: written-out values, and in compact style the row's name.

    Args:
        columns: (field, width in characters) of each text column right of the plot. In compact
            style only the first is shown, above the mark.
    """
    import altair as alt

    ink, muted = style.hex(INK), style.hex(MUTED)
    if style.compact:
        lift = -style.row_height * 0.18
        room = style.width - 8
        value = columns[0] if columns else None
        limit = room - (value[1] * _CHAR if value else 0)
        layers = [
            alt.Chart()
            .mark_text(align="left", dy=lift, color=ink, limit=limit, clip=False)
            .encode(y=y, x=alt.value(0), text=f"{label_field}:N")
        ]
        if value:
            layers.append(
                alt.Chart()
                .mark_text(align="right", dy=lift, color=muted, fontSize=11)
                .encode(y=y, x=alt.value(style.width), text=f"{value[0]}:N")
            )
        return layers
    layers = []
    place = float(style.width + 10)
    for number, (name, characters) in enumerate(columns):
        layers.append(
            alt.Chart()
            .mark_text(align="left", color=ink if number == 0 else muted, fontSize=11.5)
            .encode(y=y, x=alt.value(place), text=f"{name}:N")
        )
        place += characters * _CHAR
    return layers


def frame(style: Style, layers: Sequence[alt.Chart], rows: Sequence[Row], count: int) -> Any:
    """Layers over common rows, as high as their number asks for."""
    import altair as alt

    return alt.layer(*layers, data=data(rows)).properties(
        width=style.width, height=max(1, count) * style.row_height
    )
