"""What an import prints when it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalake_cli.ingested import tell_missing
from evalake_cli.output import print_json, print_rows, say

if TYPE_CHECKING:
    from evalake_ingest.editions.pipeline import Ingested
    from evalake_ingest.imports.commit import Imported
    from evalake_ingest.rankings.answers import Ranking
    from evalake_ingest.rankings.write_run import ImportedRun


def tell(name: str, done: Imported, ranking: Ranking | None, *, as_json: bool) -> None:
    """Print what was written, what was left out, and what to know before its scores are read."""
    if as_json:
        run = done.run and {**_run_row(done.run), "notes": list(done.notes)}
        dataset = _dataset_row(name, done) | ({} if run else {"notes": list(done.notes)})
        print_json({"dataset": dataset, "run": run})
        return
    row = _dataset_row(name, done)
    # Counts by reason are told below the table, with examples.
    print_rows([{key: value for key, value in row.items() if not isinstance(value, dict)}])
    if done.dataset is not None:
        say(_summary(done.dataset))
    if done.run is not None and ranking is not None:
        _tell_run(
            done.run, ranking, is_judged_anew=done.dataset is not None and done.dataset.is_new
        )
    for note in done.notes:
        say(f"warning: {note}")
    if done.dataset is not None:
        tell_missing(done.dataset)


def _summary(dataset: Ingested) -> str:
    """Tasks read and kept, and whether they are new."""
    told = f"{dataset.rows_kept} of {dataset.rows_read} tasks kept"
    if dataset.is_latest_again:
        told = f"this edition is in the lake already, and the latest again; {told}"
    elif not dataset.is_new:
        told = f"this edition is in the lake already, nothing added; {told}"
    return told


def _tell_run(run: ImportedRun, ranking: Ranking, *, is_judged_anew: bool) -> None:
    judged = "; the next build judges it by this edition" if is_judged_anew else ""
    say(f"run {run.run_id}" if run.is_new else f"already imported as run {run.run_id}{judged}")
    if run.n_unanswered:
        say(f"{run.n_unanswered} of {run.n_tasks} tasks are not in it: {ranking.unanswered}")
    if run.unknown_tasks:
        shown = ", ".join(run.unknown_tasks[:3])
        count = len(run.unknown_tasks)
        say(f"left out: answers to {count} tasks that are not in the dataset: {shown}")


def _dataset_row(name: str, done: Imported) -> dict[str, Any]:
    from evalake_ingest.corpora.store import count_left_out

    row: dict[str, Any] = {"dataset": name, "edition": done.edition}
    if done.dataset is not None:
        row |= {
            "is_new": done.dataset.is_new, "rows_read": done.dataset.rows_read,
            "rows_kept": done.dataset.rows_kept, "rows_dropped": done.dataset.rows_dropped,
            "dropped_by_reason": dict(done.dataset.dropped_by_reason),
            "left_out_by_status": count_left_out(done.dataset.left_out),
        }  # fmt: skip
    return row


def _run_row(run: ImportedRun) -> dict[str, Any]:
    return {
        "run_id": run.run_id, "is_new": run.is_new, "depth": run.depth, "n_tasks": run.n_tasks,
        "n_unanswered": run.n_unanswered, "unknown_tasks": list(run.unknown_tasks),
    }  # fmt: skip
