"""`evalake datasets`: what was ingested, what was left out, and why."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from typing import Annotated, Any

import typer

from evalake_cli.app import JsonFlag, app, current_project
from evalake_cli.output import print_json, print_rows, say

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
    """List every dataset edition in the lake: rows kept, left out by reason, splits."""
    from evalake_ingest.benchmarks import BENCHMARKS
    from evalake_ingest.editions.catalogue import count_splits, list_drops, list_editions

    shown = (
        "dataset", "edition", "revision", "rows_read", "rows_kept", "rows_dropped",
        "primary_level", "primary_metric", "default_split", "ingested_at", "caveats",
    )  # fmt: skip
    lake = current_project().lake
    rows: list[dict[str, Any]] = []
    for row in list_editions(lake):
        name, edition = row["dataset"], row["edition"]
        reasons = Counter(drop["reason"] for drop in list_drops(lake, name, edition))
        told = {
            "dropped_by_reason": dict(reasons.most_common()),
            "splits": count_splits(lake, name, edition),
        }
        rows.append({key: row[key] for key in shown} | told)
    known = {row["dataset"] for row in rows}
    absent = [name for name in BENCHMARKS if name not in known] if show_all else []
    empty = dict.fromkeys((*shown, "dropped_by_reason", "splits"))
    rows += [{**empty, "dataset": name} for name in absent]
    if json_output:
        print_json(rows)
        return
    print_rows([_summary(row) for row in rows])
    if not rows:
        say(f"can be ingested: {', '.join(BENCHMARKS)}")


def _summary(row: dict[str, Any]) -> dict[str, Any]:
    """One dataset for a person: `datasets show` has the caveats in words."""
    there = row["edition"] is not None
    return {
        "dataset": row["dataset"], "edition": row["edition"],
        "read": row["rows_read"], "kept": row["rows_kept"],
        "left out": _told(row["dropped_by_reason"]), "splits": _told(row["splits"]),
        "metric": f"{row['primary_metric']} by {row['primary_level']}" if there else None,
        "caveats": len(row["caveats"]) if there else None,
        "ingested": row["ingested_at"].strftime("%Y-%m-%d") if there else None,
    }  # fmt: skip


@datasets.command("show", epilog="Example: evalake datasets show swe-qa --json")
def show_dataset(
    *,
    name: Annotated[str, typer.Argument(help="Dataset.")],
    edition: Annotated[
        str | None, typer.Option(help="Edition, or how it begins.  [default: the latest]")
    ] = None,
    drops: Annotated[
        bool, typer.Option(help="Also list every row and every file that was left out.")
    ] = False,
    json_output: JsonFlag = False,
) -> None:
    """Show one dataset: rows read, kept and dropped by reason, splits, corpora, caveats."""
    from evalake_ingest.editions.catalogue import describe, list_drops, list_left_out

    lake = current_project().lake
    shown = describe(lake, name, edition)
    dropped = list_drops(lake, name, shown["edition"]) if drops else []
    left_out = list_left_out(lake, name, shown["edition"]) if drops else []
    if json_output:
        print_json(shown | ({"drops": dropped, "left_out": left_out} if drops else {}))
        return
    within = shown["dropped_within_kept_rows"]
    told = {
        "rows_dropped": _sum_told(shown["rows_dropped"], shown["rows_dropped_by_reason"]),
        "dropped_within_kept_rows": _sum_told(sum(within.values()), within) if within else "",
    }
    apart = {"corpora", "caveats", "dropped_by_reason", "rows_dropped_by_reason"}
    fields = {key: _told(value) for key, value in (shown | told).items() if key not in apart}
    print_rows([{"field": key, "value": value} for key, value in fields.items() if value != ""])
    print_rows([_corpus(row) for row in shown["corpora"]], title="corpora")
    if shown["caveats"]:
        print_rows([{"caveat": caveat} for caveat in shown["caveats"]], title="caveats")
    if dropped:
        columns = ("source_row", "reason", "task_id", "evidence")
        print_rows([{key: row[key] for key in columns} for row in dropped], title="dropped")
    if left_out:
        names = {"path": "path", "status": "reason", "detail": "detail", "n_files": "files"}
        listed = [{title: row.get(key) for key, title in names.items()} for row in left_out]
        print_rows(listed, title="left out of the corpora")


@datasets.command(
    "remove",
    epilog="Example: evalake datasets remove mine --dry-run  |  Exits 0 when it is gone or nothing "
    "was to be done, 2 if it is not there, in use, or --yes is missing.",
)
def remove_dataset(
    *,
    name: Annotated[str, typer.Argument(help="Dataset.")],
    edition: Annotated[
        str | None, typer.Option(help="Only this edition, or the one that begins so.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Move it to EVALAKE_HOME/removed instead of deleting it.")
    ] = False,
    json_output: JsonFlag = False,
) -> None:
    """Remove a dataset with its runs, corpora and indexes; looks at its test tail stay.

    Runs are evidence that cannot be made again without running again. Refused while a sweep, an
    import or a build is at work.
    """
    from evalake_ingest.removal import plan_removal
    from evalake_runners.engine.removing import indexes_of, remove_now
    from evalake_warehouse.errors import UsageError
    from evalake_warehouse.leftovers import sweep_leftovers
    from evalake_warehouse.questions.baseline import list_baselines

    project = current_project()
    sweep_leftovers(project)
    planned = plan_removal(project, name, edition)
    told = {
        "dataset": name, "edition": planned.edition, "runs": len(planned.run_ids),
        "attempts": planned.n_attempts, "files": len(planned.files),
        "corpora": len(planned.corpora), "indexes": len(indexes_of(project, planned)),
        "bytes": planned.n_bytes, "looks_that_stay": planned.n_looks,
        "frozen_baselines_that_stay": [
            found.file for found in list_baselines(project.baselines)[0]
            if found.record.dataset == name and planned.edition in (None, found.record.edition)
        ],
    }  # fmt: skip
    if not json_output:
        print_rows([{"field": key, "value": _told(value)} for key, value in told.items()])
    if not dry_run and not yes:
        if not sys.stdin.isatty():
            again = shlex.join(["evalake", *sys.argv[1:], "--yes"])
            raise UsageError("nothing was removed: say --yes", where=f"`{name}`", hint=again)
        typer.confirm(f"remove {name}?", abort=True, err=True)
    kept_in = None if dry_run else remove_now(project, planned, keep=keep)
    if json_output:
        print_json({**told, "removed": not dry_run, "kept_in": kept_in and str(kept_in)})
    if kept_in is not None:
        say(f"kept in {kept_in}; what is in its folders goes back into those of {project.home}")
    if not dry_run:
        say(f"removed {name}; `evalake build` takes it out of the warehouse")


def _corpus(row: dict[str, Any]) -> dict[str, Any]:
    statuses = row["files_by_status"]
    not_read = {name: count for name, count in statuses.items() if name != "ok"}
    return {
        "corpus": row["repo"] or row["origin"][:60], "commit": row["commit"] and row["commit"][:12],
        "kind": row["kind"], "files": row["n_files"], "symbols": row["n_symbols"],
        "not read": _told(not_read),
        "without definitions": _told(row["languages_without_definitions"]),
        "corpus_id": row["corpus_id"][:12],
    }  # fmt: skip


def _sum_told(total: int, parts: dict[str, int]) -> str:
    """A total and the counts that add up to it, as text."""
    told = " + ".join(f"{count} {name}" for name, count in parts.items())
    return f"{total} = {told}" if told else str(total)


def _told(value: object) -> object:
    """Counts and lists in words; empty where there is nothing to tell."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {count}" for key, count in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else value
