"""`evalake datasets`: what was ingested, what was left out, and why."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from evalake_runners.cli.app import JsonFlag, app, current_project
from evalake_runners.cli.output import print_json, print_rows, say

datasets = typer.Typer(no_args_is_help=True, help="Look at ingested datasets.")
app.add_typer(datasets, name="datasets")


@datasets.command("list", epilog="Example: evalake datasets list")
def list_datasets(
    *,
    show_all: Annotated[
        bool, typer.Option("--all", help="Also those that can be ingested and were not.")
    ] = False,
    json_output: JsonFlag = False,
) -> None:
    """List every dataset edition in the lake."""
    from evalake_ingest.catalogue import list_editions
    from evalake_ingest.loaders import LOADERS

    shown = (
        "dataset", "edition", "revision", "rows_read", "rows_kept", "rows_dropped",
        "primary_level", "primary_metric", "default_split", "ingested_at",
    )  # fmt: skip
    editions = list_editions(current_project().lake)
    rows: list[dict[str, Any]] = [{name: row[name] for name in shown} for row in editions]
    if show_all:
        known = {row["dataset"] for row in rows}
        rows += [{**dict.fromkeys(shown), "dataset": name} for name in LOADERS if name not in known]
    if json_output:
        print_json(rows)
        return
    print_rows(rows)
    if not rows:
        say(f"can be ingested: {', '.join(LOADERS)}")


@datasets.command("show", epilog="Example: evalake datasets show swe-qa --json")
def show_dataset(
    *,
    name: Annotated[str, typer.Argument(help="Dataset.")],
    edition: Annotated[
        str | None, typer.Option(help="Edition, or how it begins.  [default: the latest]")
    ] = None,
    drops: Annotated[bool, typer.Option(help="Also list every row that was left out.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Show one dataset: rows read, kept and dropped by reason, splits, corpora, caveats."""
    from evalake_ingest.catalogue import describe, list_drops

    lake = current_project().lake
    shown = describe(lake, name, edition)
    left_out = list_drops(lake, name, shown["edition"]) if drops else None
    if json_output:
        print_json(shown | ({} if left_out is None else {"drops": left_out}))
        return
    plain = {key: value for key, value in shown.items() if key not in {"corpora", "caveats"}}
    print_rows([{"field": key, "value": _told(value)} for key, value in plain.items()])
    fields = ("repo", "commit", "kind", "n_files", "n_symbols", "corpus_id")
    print_rows([{key: row[key] for key in fields} for row in shown["corpora"]], title="corpora")
    for caveat in shown["caveats"]:
        say(f"caveat: {caveat}")
    if left_out:
        columns = ("source_row", "reason", "task_id", "evidence")
        print_rows([{key: row[key] for key in columns} for row in left_out], title="dropped")


def _told(value: object) -> object:
    if isinstance(value, dict):
        return ", ".join(f"{key} {count}" for key, count in value.items()) or None
    if isinstance(value, list):
        return ", ".join(map(str, value)) or None
    return value
