"""`evalake cache`: the indexes that systems built, and room for new ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evalake_cli.app import JsonFlag, app, current_project
from evalake_cli.output import print_json, print_rows, say
from evalake_warehouse.errors import UsageError

if TYPE_CHECKING:
    from evalake_runners.engine.indexes import StoredIndex

cache_app = typer.Typer(no_args_is_help=True, help="Indexes kept for later sweeps.")
app.add_typer(cache_app, name="cache")


@cache_app.command(epilog="Example: evalake cache info --json")
def info(as_json: JsonFlag = False) -> None:
    """List the stored indexes, largest first; `complete: no` was left by a killed build."""
    from evalake_runners.engine.indexes import list_indexes

    project = current_project()
    indexes = list_indexes(project.indexes)
    rows = [_row(index) for index in indexes]
    if as_json:
        print_json(rows)
        return
    shown = ("system", "corpus", "mb", "built_in_s", "used_at", "complete")
    print_rows([{name: row[name] for name in shown} for row in rows])
    total = sum(index.bytes_on_disk for index in indexes)
    say(f"{project.indexes}: {len(indexes)} indexes, {_megabytes(total):.1f} MB")


@cache_app.command(epilog="Example: evalake cache evict --older-than-days 30")
def evict(
    older_than_days: Annotated[
        float | None, typer.Option(min=0, help="Only indexes not used for so many days.")
    ] = None,
    system: Annotated[str | None, typer.Option(help="Only indexes of this system.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All indexes.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Delete stored indexes; a later run builds again what it needs. Evidence is never touched.

    Refused while a sweep runs. What a killed build left unfinished goes with any of these options.
    """
    from evalake_runners.engine.indexes import list_indexes, remove_index
    from evalake_runners.engine.locks import held_locks

    if older_than_days is None and system is None and not everything:
        raise UsageError(
            "say which: --older-than-days, --system or --all", hint="evalake cache info"
        )
    before = datetime.now(UTC).replace(tzinfo=None) - timedelta(days=older_than_days or 0)
    project = current_project()
    if held := held_locks(project.home):
        what = f"a process is at work here ({', '.join(held)}); its indexes are in use"
        raise UsageError(what, where=str(project.home))
    chosen = [
        index
        for index in list_indexes(project.indexes)
        if (system is None or index.system == system)
        and (older_than_days is None or index.used_at is None or index.used_at <= before)
    ]
    for index in chosen:
        remove_index(index)
    if as_json:
        print_json({"removed": [_row(index) for index in chosen]})
    freed = _megabytes(sum(index.bytes_on_disk for index in chosen))
    say(f"removed {len(chosen)} indexes, {freed:.1f} MB")


def _row(index: StoredIndex) -> dict[str, Any]:
    return {
        "system": index.system,
        "key": index.key,
        "corpus": (index.corpus_id or "")[:12] or None,
        "mb": _megabytes(index.bytes_on_disk),
        "built_in_s": index.seconds,
        "built_at": index.built_at,
        "used_at": index.used_at,
        "complete": index.is_complete,
    }


def _megabytes(n_bytes: int) -> float:
    return n_bytes / 1_000_000
