"""`evalake sql`: ask every run ever made a new question."""

from __future__ import annotations

import csv as csv_format
import sys
from typing import Annotated

import typer

from evalake_cli.app import JsonFlag, app, current_project
from evalake_cli.opened import open_judged
from evalake_cli.output import print_json, print_rows
from evalake_warehouse.errors import ExitCode, UsageError
from evalake_warehouse.shown import shown


@app.command(
    epilog='Example: evalake sql "select arm_label, mean from fct_run_metrics join dim_runs '
    "using (run_id) where metric = 'recall@5' order by mean desc\"  |  "
    "Exits 0 when answered, 2 if refused, 3 if a lake file had to be left out or time ran out."
)
def sql(
    query: Annotated[str, typer.Argument(help="One SQL question, or - to read it from stdin.")],
    scenario: Annotated[
        str | None, typer.Option(help="Ask this what-if warehouse instead of the default one.")
    ] = None,
    as_json: JsonFlag = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV on stdout.")] = False,
    timeout: Annotated[
        float,
        typer.Option(min=0.001, max=86_400, metavar="SECONDS", help="Give up after so long."),
    ] = 300.0,
) -> int:
    """Ask the marts and the raw lake (`lake.hits`, `lake.attempts`, ...) one question in SQL.

    Nothing else can be reached: no other file, no network, no extension, and nothing is written.
    """
    from evalake_warehouse.lake.reader import list_lake
    from evalake_warehouse.questions.user_sql import ask, check_question, needs_lake

    if as_json and csv:
        raise UsageError("--json and --csv exclude each other", hint="evalake sql --help")
    text = _from_stdin() if query == "-" else query
    check_question(text)
    listing = list_lake(current_project().home)
    with open_judged(scenario, listing=listing, with_lake=needs_lake(text)) as connection:
        found = ask(connection, text, timeout_s=timeout)
    if as_json:
        print_json(found.rows)
    elif csv:
        writer = csv_format.writer(sys.stdout, lineterminator="\n")
        writer.writerow(found.columns)
        writer.writerows([_cell(value) for value in row] for row in found.values)
    else:
        print_rows(found.rows)
    return ExitCode.INCOMPLETE if listing.problems else ExitCode.OK


def _cell(value: object) -> object:
    """A value for printing: unchanged for a file, control characters escaped for a terminal."""
    if isinstance(value, str) and sys.stdout.isatty():
        return shown(value, lines=True)
    return value


def _from_stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"not UTF-8: byte {error.start + 1}", where="stdin") from None
