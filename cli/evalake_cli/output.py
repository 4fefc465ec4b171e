"""Data on stdout, everything else on stderr."""

from __future__ import annotations

import json
import logging
import math
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from evalake_warehouse.jsonable import jsonable
from evalake_warehouse.scrub import scrub
from evalake_warehouse.shown import shown

if TYPE_CHECKING:
    from rich.console import Console

    from evalake_warehouse.errors import EvalakeError


# A longer cell goes on in further lines: a rule of thousands of dashes helps nobody.
_WIDEST_COLUMN = 120


def say(message: str) -> None:
    """Lines for a person, on stderr: no secret that an error may carry, no terminal escape."""
    print(shown(scrub(message), lines=True), file=sys.stderr)


PACKAGES = (
    "evalake_cli",
    "evalake_ingest",
    "evalake_reports",
    "evalake_runners",
    "evalake_warehouse",
)


class _Said(logging.Handler):
    """Log records as lines for a person."""

    def emit(self, record: logging.LogRecord) -> None:
        say(f"{record.levelname.lower()}: {record.getMessage()}")


def say_warnings() -> None:
    """Let what our packages log be said."""
    for name in PACKAGES:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [_Said(logging.WARNING)], False


def print_error(error: EvalakeError) -> None:
    """All problems of an error, one line each, then the hint."""
    for problem in error.problems:
        say(f"error: {problem}")
    if error.hint:
        say(f"\nhint: {error.hint}")


def print_json(value: object) -> None:
    """Machine output: UTF-8 JSON with NaN as null and times as ISO 8601.

    A character that a terminal would act on is written as JSON's escape of it, which means the
    same to a program.
    """
    text = json.dumps(jsonable(value), indent=2, ensure_ascii=False, allow_nan=False)
    print("\n".join(line if line.isprintable() else _escaped(line) for line in text.split("\n")))


def _escaped(line: str) -> str:
    """A line of JSON whose characters are all visible or escaped; outside of strings all are."""
    return "".join(char if shown(char) == char else json.dumps(char)[1:-1] for char in line)


def print_rows(rows: Sequence[Mapping[str, Any]], *, title: str | None = None) -> None:
    """Rows as a table: fitted to a terminal, each column at its width in a file or a pipe."""
    from rich.table import Table
    from rich.text import Text

    if not rows:
        say("no rows")
        return
    table = Table(
        title=Text(title) if title else None,
        title_justify="left",
        show_edge=False,
        header_style="bold",
    )
    for name in rows[0]:
        numeric = all(isinstance(row[name], int | float | None) for row in rows)
        # A number that is cut in two is another number.
        table.add_column(
            Text(name),
            justify="right" if numeric else "left",
            no_wrap=numeric,
            overflow="fold",
            max_width=None if numeric else _WIDEST_COLUMN,
        )
    for row in rows:
        table.add_row(*(Text(format_cell(value)) for value in row.values()))
    console = _console()
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().splitlines():
        print(line.rstrip())


def format_cell(value: object) -> str:
    """One value for a person: three decimals, a dash for NULL."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) >= 0.0005 or value == 0 else f"{value:.1e}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    return shown(str(value))


def _console() -> Console:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 10_000, highlight=False, soft_wrap=False)
