"""`evalake build`: bring the warehouse up to date with the lake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from evalake_cli.app import JsonFlag, app, current_project
from evalake_cli.output import print_json, say
from evalake_warehouse.errors import ExitCode

if TYPE_CHECKING:
    from evalake_warehouse.build import BuildResult


@app.command(
    epilog="Example: evalake build --var text_threshold=80 --scenario t80  |  "
    "Exits 0 when done or nothing to do, 2 if busy or misused, 3 if files were skipped."
)
def build(
    *,
    var: Annotated[
        list[str] | None,
        typer.Option(help="name=value of a variable to judge by; needs --scenario. Repeatable."),
    ] = None,
    gold: Annotated[
        list[str] | None,
        typer.Option(
            help="Edition to judge by before later ones; needs --scenario. Repeatable.",
            metavar="DATASET@EDITION",
        ),
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(
            help="Write this what-if warehouse; it keeps the variables it was built with."
        ),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Judge every run again.")] = False,
    with_dbt: Annotated[
        bool,
        typer.Option(
            "--with-dbt", help="Let dbt run the models, and not what it made of them before."
        ),
    ] = False,
    wait: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for another build.", metavar="SECONDS")
    ] = 60.0,
    as_json: JsonFlag = False,
) -> int:
    """Judge what changed in the lake and swap in the new warehouse.

    Only runs whose evidence, gold, rules or variables changed are judged, each by the latest
    edition of its dataset whose questions it answered, and runs are compared with their family's
    baseline and with frozen ones in the baselines folder. Readers of the old warehouse are not
    disturbed, and a build that fails leaves it as it was.

    A scenario is judged by the variables of its last build, but for those that --var names; the
    command prints all that differ from the defaults. The default warehouse keeps the defaults.
    """
    from evalake_cli.progress import step_display
    from evalake_warehouse.build.protocol import build as run_build
    from evalake_warehouse.build.settings import BuildSettings

    pins = [f"gold={','.join(gold)}"] if gold else []
    settings = BuildSettings.parse([*(var or []), *pins])
    with step_display("build") as on_step:
        result = run_build(
            current_project(),
            settings=settings,
            scenario=scenario,
            full=full,
            with_dbt=with_dbt,
            wait_s=wait,
            on_step=on_step,
        )
    for problem in result.skipped_files:
        say(f"warning: {problem}")
    if as_json:
        print_json(_as_record(result))
    else:
        say(_summary(result, scenario))
    return ExitCode.INCOMPLETE if result.skipped_files else ExitCode.OK


def _summary(result: BuildResult, scenario: str | None) -> str:
    by = f", by {_variables(result)}" if scenario is not None else ""
    if result.build_id is None:
        return f"{result.warehouse}: up to date, {result.n_runs} runs{by}"
    return f"{result.warehouse}: judged {len(result.changed_runs)} of {result.n_runs} runs{by}"


def _variables(result: BuildResult) -> str:
    changed = (
        f"{name}={str(value).removesuffix('.0')}" for name, value in result.variables.items()
    )
    return " ".join(changed) or "the default variables"


def _as_record(result: BuildResult) -> dict[str, object]:
    return {
        "warehouse": str(result.warehouse),
        "build_id": result.build_id,
        "n_runs": result.n_runs,
        "changed_runs": list(result.changed_runs),
        "variables": result.variables,
        "rows": result.rows,
        "skipped_files": [
            {"file": problem.where, "reason": problem.what} for problem in result.skipped_files
        ],
    }
