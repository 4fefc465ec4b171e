"""`evalake report` and `evalake leaderboard`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evalake_cli.app import JsonFlag, app
from evalake_cli.output import print_json, print_rows, say
from evalake_cli.selection_flags import (
    BaselineOption,
    Chosen,
    PaletteOption,
    open_selections,
    takes_chosen_runs,
)
from evalake_warehouse.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from evalake_reports.charts import Selection


@app.command(
    epilog="Example: evalake report --output report.html  |  "
    "Example: evalake report --family demo --format md  |  "
    "Exits 0 when written, 2 if misused, 3 if no run has a score to be ranked by."
)
@takes_chosen_runs
def report(
    chosen: Chosen,
    *,
    output: Annotated[
        Path | None,
        typer.Option(help="File to write.  [default: stdout, for md and json]"),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            envvar="EVALAKE_REPORT_FORMAT",
            help="html, md or json.  [default: by the file's ending]",
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option("--full", help="Every section in Markdown too, not the summary alone."),
    ] = False,
    baseline: BaselineOption = None,
    title: Annotated[str | None, typer.Option(help="Title instead of the datasets.")] = None,
    palette: PaletteOption = None,
) -> int:
    """Write a report on one family of runs: one file, complete without a network.

    Verdict, completeness, leaderboard, paired comparisons, breakouts, latency, cost,
    environment, drops and caveats; the HTML form ends with a task explorer. Markdown is a
    summary for pull requests and docs: scores, comparisons with the baseline, times and drops.
    """
    from evalake_reports.report import has_rank, render_report, report_format, write_report

    written = report_format(output, format_)
    if output is None and written == "html":
        raise UsageError(
            "an HTML report needs a file to be written to",
            where="--output",
            hint="evalake report --output report.html",
        )
    with open_selections(chosen, baseline=baseline, palette=palette) as selections:
        if output is None:
            print(render_report(selections, written, name=title, full=full), end="")
        else:
            print(write_report(selections, output, format_name=written, name=title, full=full))
        is_ranked = any(map(has_rank, selections))
    return ExitCode.OK if is_ranked else ExitCode.INCOMPLETE


@app.command(
    epilog="Example: evalake leaderboard --family demo  |  "
    "Exits 0 when a run has a score to be ranked by, 2 if misused, 3 if none has."
)
@takes_chosen_runs
def leaderboard(
    chosen: Chosen,
    *,
    as_json: JsonFlag = False,
) -> int:
    """Rank the arms of one family on their primary metric, with intervals.

    Equal means share a rank. Runs that are suspect, limited to part of the tasks or without a score
    have none.
    """
    from evalake_reports.report import has_rank, printable
    from evalake_reports.report import leaderboard as ranked

    with open_selections(chosen) as selections:
        if as_json:
            print_json([{**_place(s), **row} for s in selections for row in ranked(s)])
        for selection in [] if as_json else selections:
            print_rows(printable(selection), title=selection.heading)
            for caution in selection.shared_cautions:
                say(f"warning: {caution.text}")
        is_ranked = any(map(has_rank, selections))
    return ExitCode.OK if is_ranked else ExitCode.INCOMPLETE


def _place(selection: Selection) -> dict[str, Any]:
    """Dataset, split and edition of a selection, to put beside each of its rows."""
    first = selection.runs[0]
    return {
        "dataset": first.dataset,
        "split": first.split,
        "edition": first.edition,
        "is_latest_edition": first.edition == selection.latest_edition,
        "table_cautions": [caution.record() for caution in selection.shared_cautions],
    }
