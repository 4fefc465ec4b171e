"""What a report is made of: sections of tables and figures, the same for every output format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evalake_reports.charts.labels import DASH, MINUS

Row = Mapping[str, Any]
Align = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: how its cells are written for a person. The row itself keeps raw values."""

    title: str
    write: Callable[[Row], str]
    align: Align = "left"
    kind: Literal["plain", "arm", "code", "long"] = "plain"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with the columns a person sees; `name` is the key in the JSON form."""

    name: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    caption: str = ""
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart as SVG text that follows the page's theme.

    Without a wide layout the narrow one serves every width, several side by side.
    """

    name: str
    title: str
    wide: str | None
    narrow: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a report, in reading order: text, figures, tables, further figures.

    `tones` goes with `text`, a word per line: a verdict, `warning`, or nothing.
    """

    name: str
    title: str
    text: Sequence[str] = ()
    tones: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    more_figures: Sequence[Figure] = ()


def text(key: str, title: str | None = None, *, kind: Any = "plain") -> Column:
    """A left-aligned column of text."""
    return Column(title or key, lambda row: _or_dash(row[key]), kind=kind)


def count(key: str, title: str | None = None) -> Column:
    """A whole number, with thin spaces between thousands."""
    return Column(title or key, lambda row: whole(row[key]), align="right")


def number(key: str, title: str | None = None, digits: int = 3) -> Column:
    """A decimal number."""
    return Column(title or key, lambda row: decimal(row[key], digits), align="right")


def arm_column(title: str = "arm") -> Column:
    """The arm's short label, with its colour where the format has colours."""
    return Column(title, lambda row: str(row["arm"]), kind="arm")


def whole(value: float | None) -> str:
    """A count, or an en dash."""
    return DASH if value is None else f"{value:,.0f}".replace(",", "\u202f")


def decimal(value: float | None, digits: int = 3) -> str:
    """A decimal with a true minus sign, or an en dash."""
    if value is None:
        return DASH
    shown = f"{value:.{digits}f}"
    if float(shown) == 0:
        shown = shown.lstrip("-")
    return shown.replace("-", MINUS)


def size(value: float | None) -> str:
    """Bytes with the unit that suits them (powers of 1,000)."""
    if value is None:
        return DASH
    for limit, factor, unit in ((1e3, 1, "B"), (1e6, 1e3, "kB"), (1e9, 1e6, "MB")):
        if value < limit:
            return f"{value / factor:.0f} {unit}" if factor == 1 else f"{value / factor:.1f} {unit}"
    return f"{value / 1e9:.1f} GB"


def _or_dash(value: object) -> str:
    if value is None or value == "":
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
