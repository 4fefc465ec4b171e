"""Charts with one row per arm: names and written-out values that line up with the marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalake_reports.charts.palette import INK, MUTED
from evalake_reports.charts.theme import MAX_LEGEND_ROWS, Style

if TYPE_CHECKING:
    import altair as alt

    from evalake_reports.charts.selection import Selection

Row = Mapping[str, Any]
_CHAR = 6.4  # pixels of an average character at 12 px


def data(rows: Sequence[Row]) -> alt.InlineData:
    """Rows as inline data, so that a chart is complete by itself."""
    import altair as alt

    return alt.InlineData(values=tuple(rows))


def spec(**settings: Any) -> dict[str, Any]:
    """Settings of an axis, a scale or a legend.

    A plain dictionary, and tuples in it, because altair copies each of its own objects, unset
    options and all, and every list with all that is in it, each time a chart is changed.
    """
    return {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}


def mark(kind: str, data: alt.InlineData | None = None, **settings: Any) -> Any:
    """One layer, an `alt.Chart`: a mark, over the common rows or over its own."""
    import altair as alt

    look: Any = {"type": kind, **settings}
    return alt.Chart(mark=look) if data is None else alt.Chart(data, mark=look)


def at(channel: str, pixels: float) -> Any:
    """A fixed place in pixels, for the channel `x` or `y`."""
    import altair as alt

    value: Any = {"x": alt.XValue, "y": alt.YValue}[channel]
    return value(pixels)


def band(style: Style, order: Sequence[str], *, field: str = "label", names: bool = True) -> alt.Y:
    """The y channel: one band per name in the order given."""
    import altair as alt

    axis = (
        spec(title=None, grid=False, labelPadding=8, minExtent=10)
        if names and not style.compact
        else None
    )
    return alt.Y(f"{field}:N", sort=tuple(order), axis=axis, scale=spec(padding=0))


def arm_colour(selection: Selection, style: Style, rows: Sequence[Row]) -> alt.Color:
    """The colour channel of a chart whose rows are named: each arm's colour, full legends."""
    import altair as alt

    shown = _in_order(rows, "legend")
    hidden = style.bare or len(shown) > MAX_LEGEND_ROWS
    legend = None if hidden else spec(symbolType="square", **_legend(style.width, columns=1))
    looks = [style.hex(selection.styles[run_id].colour) for run_id in _runs(selection, shown)]
    return alt.Color("legend:N", sort=shown, scale=spec(domain=shown, range=looks), legend=legend)


def arm_looks(
    selection: Selection, style: Style, rows: Sequence[Row]
) -> tuple[alt.Color, alt.Shape]:
    """Colour and shape of a chart in which only the legend names the arms.

    So a bare chart keeps the legend, with short names.
    """
    import altair as alt

    field = "label" if style.bare else "legend"
    shown = _in_order(rows, field)
    columns = 1
    if style.bare:
        columns = 2 if style.compact else 4
    legend = spec(**_legend(style.width, columns=columns))
    styles = [selection.styles[run_id] for run_id in _runs(selection, shown)]
    colours = spec(domain=shown, range=[style.hex(look.colour) for look in styles])
    shapes = spec(domain=shown, range=[look.shape for look in styles])
    return (
        alt.Color(f"{field}:N", sort=shown, scale=colours, legend=legend),
        alt.Shape(f"{field}:N", sort=shown, scale=shapes, legend=legend),
    )


def _in_order(rows: Sequence[Row], field: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(row[field]) for row in rows))


def _runs(selection: Selection, names: Sequence[str]) -> list[str]:
    """Run ids of labels or legends."""
    known = {name: run_id for run_id, name in selection.labels.items()}
    known |= {name: run_id for run_id, name in selection.legends.items()}
    return [known[name] for name in names]


def _legend(width: int, *, columns: int) -> dict[str, Any]:
    limit = width if columns == 1 else max(120, width // columns - 24)
    return spec(title=None, symbolSize=70, symbolOpacity=1, columns=columns, labelLimit=limit)


def mark_offset(style: Style) -> float:
    """How far a row's mark is moved down from the middle of its band, in pixels."""
    return style.row_height * 0.2 if style.compact else 0.0


def bar_size(style: Style) -> float:
    """Thickness of a bar in pixels."""
    return 9.0 if style.compact else 13.0


@dataclass(frozen=True, slots=True)
class TextColumn:
    """Written-out values right of the plot, with a heading."""

    field: str
    characters: int
    heading: str = ""


def words(
    style: Style, y: alt.Y, columns: Sequence[TextColumn], *, label_field: str = "label"
) -> list[alt.Chart]:
    """Text beside the marks: written-out values, and in compact style the row's name.

    In compact style only the first column is shown, above the mark.
    """
    if style.compact:
        return _words_above(style, y, columns[:1], label_field)
    return _words_beside(style, y, columns)


def _words_above(
    style: Style, y: alt.Y, columns: Sequence[TextColumn], label_field: str
) -> list[alt.Chart]:
    import altair as alt

    lift = -style.row_height * 0.18
    taken = columns[0].characters * _CHAR if columns else 0.0
    name = mark("text", align="left", dy=lift, color=style.hex(INK), limit=style.width - 10 - taken)
    layers = [name.encode(y=y, x=at("x", 0), text=alt.Text(f"{label_field}:N"))]
    for column in columns:
        value = mark("text", align="right", dy=lift, color=style.hex(MUTED), fontSize=11)
        layers.append(value.encode(y=y, x=at("x", style.width), text=alt.Text(f"{column.field}:N")))
    return layers


def _words_beside(style: Style, y: alt.Y, columns: Sequence[TextColumn]) -> list[alt.Chart]:
    import altair as alt

    layers = []
    place = float(style.width + 14)
    for number, column in enumerate(columns):
        colour = style.hex(INK if number == 0 else MUTED)
        value = mark("text", align="left", color=colour, fontSize=11.5)
        layers.append(value.encode(y=y, x=at("x", place), text=alt.Text(f"{column.field}:N")))
        if column.heading:
            heading = mark(
                "text",
                data=data([{}]),
                align="left",
                baseline="bottom",
                color=style.hex(MUTED),
                fontSize=11,
            )
            layers.append(
                heading.encode(x=at("x", place), y=at("y", -6), text=alt.TextValue(column.heading))
            )
        place += column.characters * _CHAR
    return layers


def chance_line(style: Style, chance: float | None) -> list[Any]:
    """A dotted line across the plot at the chance level of a score on the y axis."""
    import altair as alt

    if chance is None:
        return []
    line = mark(
        "rule",
        data([{"chance": chance}]),
        color=style.hex(MUTED),
        strokeDash=[1, 3],
        strokeWidth=1.4,
    )
    return [line.encode(y=alt.Y("chance:Q"))]


def titled(chart: Any, text: str) -> Any:
    """A panel with a small heading of its own."""

    return chart.properties(
        title=spec(text=text, fontSize=12, fontWeight=600, offset=8, anchor="start")
    )


def frame(style: Style, layers: Sequence[alt.Chart], rows: Sequence[Row], count: int) -> Any:
    """Layers over common rows, as high as their number asks for."""
    import altair as alt

    return alt.layer(*layers, data=data(rows)).properties(
        width=style.width, height=max(1, count) * style.row_height
    )
