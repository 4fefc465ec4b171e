"""`evalake demo`: the whole path on real code, from ingest to a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evalake_cli.app import app
from evalake_cli.output import say
from evalake_warehouse.errors import ExitCode

_SWEEP = "demo.yaml"


@app.command(
    epilog="Example: evalake demo --output out  |  "
    "Exits 0 when all tasks of all arms were tried, 3 if some failed."
)
def demo(
    output: Annotated[Path, typer.Option(help="Folder for the charts and the report.")] = Path(
        "out"
    ),
) -> int:
    """Evaluate four systems on the starter benchmark's dev split and write a report.

    The same as ingest, run, build, charts, report and leaderboard one after the other. What
    is done already is not done again.
    """
    from evalake_cli.main import run_cli
    from evalake_warehouse.project import Project

    sweep = str(Project.locate().configs / "sweeps" / _SWEEP)
    family = ["--family", "demo"]
    worst = ExitCode.OK
    for step in (
        ["ingest", "starter"],
        ["run", sweep],
        ["build"],
        ["charts", "--output", str(output / "charts"), *family],
        ["report", "--output", str(output / "report.html"), *family],
        ["leaderboard", *family],
    ):
        say(f"\n$ evalake {' '.join(step)}")
        code = run_cli(step)
        if code not in (ExitCode.OK, ExitCode.INCOMPLETE):
            return code
        worst = max(worst, ExitCode(code))
    say(f"\nreport: {(output / 'report.html').resolve()}")
    return worst
