"""`evalake baseline`: freeze a run's scores in a file, and check the file against the warehouse."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evalake_cli.app import JsonFlag, app, current_project
from evalake_cli.opened import open_judged
from evalake_cli.output import print_json, print_rows, say
from evalake_cli.run_flags import DatasetOption, EditionOption, RunArgument, SplitOption
from evalake_warehouse.errors import ExitCode

baseline_app = typer.Typer(
    no_args_is_help=True,
    help="Freeze a run's scores in a file that can be committed.",
    rich_markup_mode=None,
)
app.add_typer(baseline_app, name="baseline")


@baseline_app.command(
    epilog="Example: evalake baseline freeze bm25 --output baselines/starter.json"
)
def freeze(
    run: RunArgument,
    *,
    output: Annotated[
        Path | None,
        typer.Option(help="File to write.  [default: baselines/<dataset>-<split>.json]"),
    ] = None,
    dataset: DatasetOption = None,
    split: SplitOption = None,
    edition: EditionOption = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Write over another baseline in the file.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Write a run's scores per task to a file, for `compare`, `gate`, charts and builds.

    `evalake build` compares every run on the same dataset, edition and split with each file in the
    project's `baselines/`, or in the folder that EVALAKE_BASELINES names.
    """
    from evalake_warehouse.questions.baseline import save
    from evalake_warehouse.questions.cautions import run_cautions
    from evalake_warehouse.questions.freezing import freeze as freeze_run
    from evalake_warehouse.questions.resolve import Wanted, resolve_run

    project = current_project()
    with open_judged() as connection:
        wanted = Wanted(dataset, split, edition)
        found = resolve_run(connection, run, wanted, tell=say, judged=True)
        frozen = freeze_run(connection, found)
        cautions = run_cautions(connection, [found.run_id], list(frozen.metrics))[found.run_id]
    target = output or project.baselines / f"{found.dataset}-{found.split}.json"
    save(frozen, target, replace=replace)
    for caution in cautions:
        say(f"warning: {found.arm_label}: {caution.text}")
    if as_json:
        print_json(
            {
                "file": str(target),
                "run_id": found.run_id,
                "n_tasks": len(frozen.tasks),
                "cautions": [caution.record() for caution in cautions],
            }
        )
    else:
        say(f"{target}: {found}, {len(frozen.tasks)} tasks, {len(frozen.metrics)} metrics")
        if target.resolve().parent == project.baselines.resolve():
            say(f"next: evalake build compares every run on {found.dataset}/{found.split} with it")


@baseline_app.command(
    epilog="Example: evalake baseline check baselines/starter.json  |  "
    "Exits 0 if it agrees, 1 if a score differs, 2 if file or run cannot be found."
)
def check(
    file: Annotated[Path, typer.Argument(help="A frozen baseline file.")],
    as_json: JsonFlag = False,
) -> int:
    """Compare a frozen file with what the warehouse says of the same run now."""
    from evalake_warehouse.questions.baseline import load_baseline
    from evalake_warehouse.questions.freezing import changed_values, freeze
    from evalake_warehouse.questions.resolve import resolve_run

    frozen = load_baseline(file)
    with open_judged() as connection:
        now = freeze(connection, resolve_run(connection, frozen.record.run_id))
    changed = changed_values(frozen, now)
    if as_json:
        print_json({"file": str(file), "agrees": not changed, "changed": changed})
    elif changed:
        say(f"{file}: {len(changed)} scores differ from the warehouse")
        print_rows(changed[:20])
    else:
        say(f"{file}: agrees with the warehouse")
    return ExitCode.REGRESSION if changed else ExitCode.OK
