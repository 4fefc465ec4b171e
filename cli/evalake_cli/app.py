"""The application object, its global flags, and how a command reaches the project."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evalake_warehouse.project import Project

app = typer.Typer(
    name="evalake",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"auto_envvar_prefix": "EVALAKE", "help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 ok, 1 regression, 2 usage or config (nothing was run), "
    "3 incomplete or inconclusive, 130 interrupted, 141 output closed.",
)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]


@app.callback()
def _global_options(
    home: Annotated[
        Path | None,
        typer.Option(help="Folder of the lake, indexes and warehouse.  [default: ./.evalake]"),
    ] = None,
    project_dir: Annotated[
        Path | None,
        typer.Option(help="Folder with models/, configs/ and the dbt project."),
    ] = None,
) -> None:
    """Evaluate retrieval systems on a data lake: runs are evidence, metrics are queries."""
    from evalake_warehouse.project import expanded

    # Flags become the environment, so that worker processes see the same folders.
    if home is not None:
        os.environ["EVALAKE_HOME"] = str(expanded(home, where="--home"))
    if project_dir is not None:
        os.environ["EVALAKE_PROJECT_DIR"] = str(expanded(project_dir, where="--project-dir"))


def current_project() -> Project:
    """The project that the global flags, the environment and the folder say."""
    from evalake_warehouse.project import Project

    return Project.locate()
