"""`evalake audit`: what a reviewer asks about how results came to be."""

from __future__ import annotations

from typing import Annotated

import typer

from evalake_cli.app import JsonFlag, app, current_project
from evalake_cli.output import print_json, print_rows

audit_app = typer.Typer(no_args_is_help=True, help="Check how results came to be.")
app.add_typer(audit_app, name="audit")


@audit_app.command(epilog="Example: evalake audit looks --dataset starter --json")
def looks(
    dataset: Annotated[str | None, typer.Option(help="Only looks at this dataset.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """List every use of tasks from the test tail: who, when, which arm, and why."""
    from evalake_runners.engine.lake_read import LakeView
    from evalake_warehouse.questions.runs import check_dataset

    lake = LakeView(current_project().home)
    rows = [row for row in lake.looks() if dataset is None or row["dataset"] == dataset]
    if dataset is not None and not rows:
        check_dataset(dataset, {file.dataset for file in lake.listing.files})
    if as_json:
        print_json(rows)
        return
    shown = ("looked_at", "who", "why", "dataset", "split", "family", "run_id")
    print_rows([{name: row[name] for name in shown} for row in rows])
