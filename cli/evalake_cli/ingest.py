"""`evalake ingest`: a benchmark's original files into the lake."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evalake_cli.app import JsonFlag, app, current_project
from evalake_cli.ingested import tell_missing
from evalake_cli.output import print_json, print_rows, say

if TYPE_CHECKING:
    from evalake_ingest.editions.pipeline import Ingested


@app.command(
    epilog="Example: evalake ingest swe-qa --repo flask --repo requests --archives ~/archives"
)
def ingest(
    *,
    name: Annotated[str, typer.Argument(help="Dataset; `evalake datasets list` has them.")],
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Folder with the original files.  [default: download them]"),
    ] = None,
    archives: Annotated[
        Path | None,
        typer.Option(help="Folder with tarballs of the corpora.  [default: shallow clones]"),
    ] = None,
    revision: Annotated[
        str | None, typer.Option(help="Version of the source.  [default: the pinned one]")
    ] = None,
    repo: Annotated[
        list[str] | None, typer.Option(help="Keep this repository's tasks only; may be repeated.")
    ] = None,
    library: Annotated[
        list[str] | None, typer.Option(help="Keep this library's tasks only; may be repeated.")
    ] = None,
    narrow_corpus: Annotated[
        bool, typer.Option(help="Let --library narrow the corpus too, not the tasks alone.")
    ] = False,
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB",
            help="Only these files are corpus, whatever their suffix; may be repeated.",
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="These files are not corpus; may be repeated."),
    ] = None,
    json_output: JsonFlag = False,
) -> None:
    """Load a benchmark, prove that `gold` scores 1 and `empty` 0 on every task, and keep it.

    The same edition again adds nothing. Exits 2 when a file is missing, changed or of another
    schema, and when the proof fails; then nothing is written.
    """
    from evalake_cli.progress import step_display
    from evalake_ingest.editions.pipeline import ingest as run_ingest
    from evalake_ingest.editions.selfcheck import check_edition
    from evalake_ingest.loaders import get_loader
    from evalake_ingest.originals.selection import load
    from evalake_ingest.records import LoadOptions
    from evalake_warehouse.errors import UsageError

    loader = get_loader(name)
    for flag, folder in (("--from", source), ("--archives", archives)):
        if folder is not None and not folder.is_dir():
            raise UsageError("not a folder", where=f"{flag} {folder}")
    project = current_project()
    options = LoadOptions(
        cache=project.cache,
        source_dir=source,
        archives_dir=archives,
        revision=revision,
        repos=tuple(repo or ()),
        libraries=tuple(library or ()),
        narrow_corpus=narrow_corpus,
        include=tuple(include or ()),
        exclude=tuple(exclude or ()),
    )
    loaded = replace(load(loader, options), selection=options.selection)
    with step_display(name) as step:
        done = run_ingest(project, loaded, check=check_edition, on_step=step)
    if json_output:
        print_json(_as_json(done))
        return
    print_rows(
        [
            {
                "dataset": done.dataset, "edition": done.edition, "read": done.rows_read,
                "kept": done.rows_kept, "dropped": done.rows_dropped,
            }
        ]
    )  # fmt: skip
    _tell(done)


def _as_json(done: Ingested) -> dict[str, Any]:
    from evalake_ingest.corpora.store import count_left_out

    changes = done.changes
    return {
        "dataset": done.dataset, "edition": done.edition, "is_new": done.is_new,
        "is_latest_again": done.is_latest_again,
        "rows_read": done.rows_read, "rows_kept": done.rows_kept,
        "rows_dropped": done.rows_dropped, "dropped_by_reason": dict(done.dropped_by_reason),
        "left_out_by_status": count_left_out(done.left_out),
        "changes": changes and {
            "previous_edition": changes.previous_edition, "added": list(changes.added),
            "removed": list(changes.removed), "changed": list(changes.changed),
        },
    }  # fmt: skip


def _tell(done: Ingested) -> None:
    if done.is_latest_again:
        say("this edition is in the lake already; from now on it is the latest again")
    elif not done.is_new:
        say("this edition is in the lake already: nothing added")
    tell_missing(done)
    if done.changes is not None:
        changes = done.changes
        say(
            f"against edition {changes.previous_edition}: {len(changes.added)} tasks added, "
            f"{len(changes.removed)} removed, {len(changes.changed)} changed"
        )
        for task_id in changes.changed[:20]:
            say(f"changed: {task_id}")
