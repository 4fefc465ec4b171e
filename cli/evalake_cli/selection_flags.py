"""The flags that choose runs for `charts`, `report` and `leaderboard`, and what they choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import wraps
from inspect import Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from evalake_cli.app import current_project
from evalake_cli.opened import open_judged
from evalake_cli.output import say

if TYPE_CHECKING:
    from evalake_reports.charts import Selection

BaselineOption = Annotated[
    str | None,
    typer.Option(help="Run to compare with.  [default: the run with the role `baseline`]"),
]
PaletteOption = Annotated[
    str | None, typer.Option(help="Colours of arms in order of first run: #rrggbb,#rrggbb,...")
]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which runs are meant, as the flags say."""

    run: Annotated[
        list[str] | None,
        typer.Option(
            help="Run id, unique prefix, label or `latest`. Repeatable.  "
            "[default: the latest family]"
        ),
    ] = None
    sweep: Annotated[str | None, typer.Option(help="Only runs of this sweep.")] = None
    family: Annotated[str | None, typer.Option(help="Only runs of this family.")] = None
    dataset: Annotated[str | None, typer.Option(help="Only runs on this dataset.")] = None
    split: Annotated[str | None, typer.Option(help="Only runs on this split.")] = None
    edition: Annotated[
        str | None,
        typer.Option(help="Only runs judged by this edition, or by one that begins so."),
    ] = None
    scenario: Annotated[
        str | None, typer.Option(help="Read this what-if warehouse instead of the default one.")
    ] = None


def takes_chosen_runs(command: Callable[..., int]) -> Callable[..., int]:
    """`command(chosen, ...)` as a function with one parameter per flag, as typer reads it."""
    hints = get_type_hints(command, include_extras=True) | get_type_hints(
        Chosen, include_extras=True
    )
    shared = signature(Chosen).parameters
    own = [value for name, value in signature(command).parameters.items() if name != "chosen"]

    @wraps(command)
    def with_flags(**flags: Any) -> int:
        chosen = Chosen(**{name: flags.pop(name) for name in shared})
        return command(chosen, **flags)

    with_flags.__signature__ = Signature(  # type: ignore[attr-defined]  # read by typer
        [
            value.replace(kind=value.KEYWORD_ONLY, annotation=hints[value.name])
            for value in (*own, *shared.values())
        ]
    )
    return with_flags


@contextmanager
def open_selections(
    chosen: Chosen, *, baseline: str | None = None, palette: str | None = None
) -> Iterator[list[Selection]]:
    """The selections that the flags name, over an opened warehouse; what is left out is said."""
    from evalake_reports.charts import Marts, panels
    from evalake_reports.charts.palette import ARM_COLOURS, parse_palette

    colours = parse_palette(palette) if palette else ARM_COLOURS
    filters = asdict(chosen)
    names, scenario = filters.pop("run"), filters.pop("scenario")
    macros = current_project().dbt_project / "macros"
    with open_judged(scenario) as connection, Marts(connection, macros=macros) as marts:
        found = panels(marts, names or [], baseline=baseline, colours=colours, tell=say, **filters)
        for selection in found:
            for left in selection.left_out:
                say(f"warning: {left.run.arm_label} ({left.run.run_id}) {left.reason}; left out")
        yield found
