"""`evalake charts`: draw the marts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
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
from evalake_warehouse.file_names import file_name

if TYPE_CHECKING:
    from evalake_reports.charts import Selection
    from evalake_reports.charts.gallery import Drawn

_FILE_ENDINGS = frozenset({".svg", ".png", ".html", ".json", ".pdf", ".jpg", ".jpeg", ".webp"})


@app.command(
    epilog="Example: evalake charts --output charts --metric recall@5 --format png  |  "
    "Exits 0 when all were drawn that could be, 2 if misused, 3 if nothing could be drawn."
)
@takes_chosen_runs
def charts(
    chosen: Chosen,
    *,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the files; made if missing.")
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Print what charts there are, and draw none.")
    ] = False,
    chart: Annotated[
        list[str] | None,
        typer.Option(help="Name of a chart, as in the file names. Repeatable.  [default: all]"),
    ] = None,
    baseline: BaselineOption = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="Metric, e.g. recall@5. Repeatable.  [default: the primary metric]"),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title instead of dataset and n.")] = None,
    palette: PaletteOption = None,
    latency_metric: Annotated[
        str, typer.Option(help="Phase that latency charts show: search, index, ...")
    ] = "search",
    percentile: Annotated[
        str, typer.Option(help="Percentile of latency against quality: p50, p95 or p99.")
    ] = "p50",
    format_: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            envvar="EVALAKE_CHARTS_FORMAT",
            help="svg, png, html or json. Repeatable.  [default: svg]",
        ),
    ] = None,
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    as_json: JsonFlag = False,
) -> int:
    """Draw charts of one family of runs, one file each.

    Runs of different datasets, splits or tasks never share a panel: several datasets get a
    folder each, and runs named with --run that do not fit together are refused.
    """
    from evalake_reports.charts.declared import Options
    from evalake_reports.charts.gallery import CHARTS, check_names, draw, draw_across
    from evalake_reports.charts.save import FORMATS
    from evalake_reports.charts.theme import Style

    if list_:
        listed = [
            {"chart": one.name, "about": one.group, "shows": one.shows} for one in CHARTS.values()
        ]
        print_json(listed) if as_json else print_rows(listed)
        return ExitCode.OK
    if output is None:
        raise UsageError(
            "charts need a folder", where="--output", hint="evalake charts --output charts"
        )
    formats = format_ or ["svg"]
    if wrong := [name for name in formats if name not in FORMATS]:
        raise UsageError(
            f"no chart format {wrong[0]!r}; there are: {', '.join(FORMATS)}", where="--format"
        )
    if output.is_file() or output.suffix.lower() in _FILE_ENDINGS:
        raise UsageError(
            f"{output} is a file's name; charts go into a folder, a file each",
            where="--output",
            hint=f"evalake charts --output charts --format {_format_of(output, FORMATS)}",
        )
    if theme not in ("light", "dark"):
        raise UsageError(f"no theme {theme!r}; there are: light, dark", where="--theme")
    options = Options(
        metrics=metric or [],
        title=title,
        phase=latency_metric,
        percentile=percentile,
        style=Style(theme="dark" if theme == "dark" else "light"),
    )
    names = chart or []
    check_names(names)
    files: list[dict[str, Any]] = []
    with open_selections(chosen, baseline=baseline, palette=palette) as selections:
        for selection in selections:
            folder = output if len(selections) == 1 else output / folder_name(selection)
            files += _save_all(draw(selection, options, names), folder, formats, [selection])
        files += _save_all(draw_across(selections, options, names), output, formats, selections)
    if as_json:
        print_json(files)
    else:
        for file in files:
            print(file["path"])
    return ExitCode.OK if files else ExitCode.INCOMPLETE


def _format_of(path: Path, formats: Collection[str]) -> str:
    """The format that a file of this name would have had."""
    ending = path.suffix.lower().removeprefix(".")
    return ending if ending in formats else "svg"


def _save_all(
    drawings: Iterable[Drawn],
    folder: Path,
    formats: Sequence[str],
    selections: Sequence[Selection],
) -> list[dict[str, Any]]:
    from evalake_reports.charts.save import save

    cautions = [
        {"run_id": run.run_id, **caution.record()}
        for selection in selections
        for run in selection.runs
        for caution in selection.cautions[run.run_id]
    ]
    files = []
    for drawn in drawings:
        if drawn.chart is None:
            say(f"skipped {folder / drawn.name}: {drawn.reason}")
            continue
        for kind in formats:
            path = save(drawn.chart, folder / f"{drawn.name}.{kind}")
            files.append({"chart": drawn.name, "path": str(path), "cautions": cautions})
    return files


def folder_name(selection: Selection) -> str:
    """A folder per dataset and split, in characters that any file system takes."""
    first = selection.runs[0]
    return file_name(f"{first.dataset}-{first.edition[:8]}-{first.split}")
