"""`evalake sql`: ask every run ever made a new question."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from evalake_runners.cli.app import JsonFlag, app
from evalake_runners.cli.opened import open_judged
from evalake_runners.cli.output import print_json, print_rows
from evalake_warehouse.errors import UsageError


@app.command(
    epilog='Example: evalake sql "select arm_label, mean from fct_run_metrics join dim_runs '
    "using (run_id) where metric = 'recall@5' order by mean desc\""
)
def sql(
    query: Annotated[str, typer.Argument(help="SQL, or - to read it from stdin.")],
    scenario: Annotated[
        str | None, typer.Option(help="Ask this what-if warehouse instead of the default one.")
    ] = None,
    as_json: JsonFlag = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV on stdout.")] = False,
) -> None:
    """Run SQL, read-only, over the marts and the raw lake (`lake.hits`, `lake.attempts`, ...)."""
    from evalake_warehouse.query import refuse_changes, rows

    if as_json and csv:
        raise UsageError("--json and --csv exclude each other", hint="evalake sql --help")
    text = sys.stdin.read() if query == "-" else query
    refuse_changes(text)
    with open_judged(scenario) as connection:
        found = rows(connection, text)
    if as_json:
        print_json(found)
    elif csv:
        _print_csv(found)
    else:
        print_rows(found)


def _print_csv(found: list[dict[str, object]]) -> None:
    import csv as csv_format

    if not found:
        return
    writer = csv_format.DictWriter(sys.stdout, fieldnames=list(found[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
