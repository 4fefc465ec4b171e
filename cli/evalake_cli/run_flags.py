"""The flags that say where a run is looked for, shared by every command that takes one."""

from __future__ import annotations

from typing import Annotated

import typer

RunArgument = Annotated[str, typer.Argument(help="A run: id, unique prefix, label or latest.")]
DatasetOption = Annotated[str | None, typer.Option(help="Look for runs on this dataset only.")]
SplitOption = Annotated[str | None, typer.Option(help="Look for runs on this split only.")]
EditionOption = Annotated[
    str | None,
    typer.Option(help="Look for runs judged by this edition only, or by one that begins so."),
]
ScenarioOption = Annotated[
    str | None, typer.Option(help="Ask this what-if warehouse instead of the default one.")
]
