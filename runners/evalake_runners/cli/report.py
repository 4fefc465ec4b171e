"""`evalake report` and `evalake leaderboard`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evalake_runners.cli.app import JsonFlag, app
from evalake_runners.cli.charts import (
    BaselineOption,
    DatasetOption,
    FamilyOption,
    PaletteOption,
    RunsOption,
    ScenarioOption,
    SplitOption,
    SweepOption,
    open_selections,
)
from evalake_runners.cli.output import print_json, print_rows
from evalake_warehouse.errors import ExitCode, UsageError


@app.command(
    epilog="Example: evalake report --output report.html  |  "
    "Example: evalake report --family demo --format md  |  "
    "Exits 0 when written, 2 if misused, 3 if no run has a score."
)
def report(
    *,
    output: Annotated[
        Path | None,
        typer.Option(help="File to write.  [default: stdout, for md and json]"),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option("--format", help="html, md or json.  [default: by the file's ending]"),
    ] = None,
    full: Annotated[
        bool,
        typer.Option("--full", help="Every section in Markdown too, not the summary alone."),
    ] = False,
    run: RunsOption = None,
    sweep: SweepOption = None,
    family: FamilyOption = None,
    dataset: DatasetOption = None,
    split: SplitOption = None,
    baseline: BaselineOption = None,
    title: Annotated[str | None, typer.Option(help="Title instead of the datasets.")] = None,
    palette: PaletteOption = None,
    scenario: ScenarioOption = None,
) -> int:
    """Write a report on one family of runs: one file, complete without a network.

    Verdict, completeness, leaderboard, paired comparisons, breakouts, latency, cost,
    environment, drops and caveats; the HTML form ends with a task explorer. Markdown is a
    summary for pull requests and docs: scores, comparisons with the baseline, times and drops.
    """
    from evalake_warehouse.report import render_report, report_format, write_report

    chosen = report_format(output, format_)
    if output is None and chosen == "html":
        raise UsageError(
            "an HTML report needs a file to be written to",
            where="--output",
            hint="evalake report --output report.html",
        )
    with open_selections(
        run or [],
        sweep=sweep,
        family=family,
        dataset=dataset,
        split=split,
        baseline=baseline,
        palette=palette,
        scenario=scenario,
    ) as selections:
        if output is None:
            print(render_report(selections, chosen, name=title, full=full), end="")
        else:
            print(write_report(selections, output, format_name=chosen, name=title, full=full))
        scored = any(selection.metrics for selection in selections)
    return ExitCode.OK if scored else ExitCode.INCOMPLETE


@app.command(
    epilog="Example: evalake leaderboard --family demo  |  "
    "Exits 0 when a run has a score, 2 if misused, 3 if none has."
)
def leaderboard(
    *,
    run: RunsOption = None,
    sweep: SweepOption = None,
    family: FamilyOption = None,
    dataset: DatasetOption = None,
    split: SplitOption = None,
    scenario: ScenarioOption = None,
    as_json: JsonFlag = False,
) -> int:
    """Rank the arms of one family on their primary metric, with intervals."""
    from evalake_warehouse.report import leaderboard as ranked
    from evalake_warehouse.report import printable

    with open_selections(
        run or [],
        sweep=sweep,
        family=family,
        dataset=dataset,
        split=split,
        baseline=None,
        palette=None,
        scenario=scenario,
    ) as selections:
        if as_json:
            print_json(
                [
                    {"dataset": selection.runs[0].dataset, "split": selection.runs[0].split, **row}
                    for selection in selections
                    for row in ranked(selection)
                ]
            )
        for selection in [] if as_json else selections:
            from evalake_warehouse.charts.labels import title

            print_rows(printable(selection), title=title(selection.runs))
        scored = any(selection.metrics for selection in selections)
    return ExitCode.OK if scored else ExitCode.INCOMPLETE
