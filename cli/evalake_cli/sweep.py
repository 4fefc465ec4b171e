"""`evalake plan`, `run` and `resume`: what a sweep would do, does, and still has to do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from evalake_cli.app import app, current_project
from evalake_cli.failed import as_rows, failures_of, resume_command, tell_failures
from evalake_cli.ingested import tell_left_out
from evalake_cli.output import print_json, print_rows, say
from evalake_cli.sweep_flags import make_request, takes_sweep_flags
from evalake_warehouse.errors import ExitCode

if TYPE_CHECKING:
    from evalake_runners.engine.cell_run import CellResult
    from evalake_runners.engine.plan import Cell, Request
    from evalake_warehouse.project import Project

_EXITS = (
    "Exits 0 when all is done, 2 if nothing was run, 3 if tasks failed or are left, 130 if stopped."
)

_SHOWN_ID = 13  # of a UUID version 7: its time to the millisecond
_USUAL = {"repeat": 1, "failed": 0, "left": 0}


@app.command(epilog="Example: evalake plan configs/sweeps/demo.yaml")
@takes_sweep_flags
def plan(flags: dict[str, Any]) -> int:
    """Show what a sweep would run, what is done, and the time it may take; spends nothing."""
    from evalake_runners.engine.forecast import plan_rows
    from evalake_runners.engine.lake_read import LakeView
    from evalake_runners.engine.plan import make_plan

    project = current_project()
    request = make_request(project, flags)
    view = LakeView(project.home)
    made = make_plan(project, request, view)
    rows = plan_rows(project, made, view)
    if flags["as_json"]:
        print_json(rows)
        return ExitCode.OK
    for own in made.own_corpora:
        tell_left_out(own.stored.left_out)
    _print_table(rows, hidden={"run_id", "run_label", "arm_hash"})
    _tell_other_labels(made.cells)
    _tell_unread(made.cells)
    _tell_done([cell for cell in made.cells if cell.is_done])
    _tell_shallow(made.cells)
    if made.looks:
        say('some cells use the test tail: running them needs --confirm "why"')
    return ExitCode.OK


@app.command(
    epilog=f"{_EXITS}  |  Example: evalake run --system bm25 --dataset starter --split dev"
)
@takes_sweep_flags
def run(flags: dict[str, Any]) -> int:
    """Run what is not done of a sweep, or of one system on one dataset.

    Failures of tasks, indexes and arms are recorded, and the rest goes on. The same command
    again does only what is left; `evalake resume` also tries failed tasks again.
    """
    return _run(flags, retry_failed=False)


@app.command(epilog=f"{_EXITS}  |  Example: evalake resume configs/sweeps/demo.yaml")
@takes_sweep_flags
def resume(flags: dict[str, Any]) -> int:
    """Finish a sweep that was cut short, and try its failed tasks once more."""
    return _run(flags, retry_failed=True)


def _run(flags: dict[str, Any], *, retry_failed: bool) -> int:
    from evalake_runners.engine.looks import require_reason
    from evalake_runners.engine.plan import make_plan
    from evalake_runners.engine.progress import Progress
    from evalake_runners.engine.runner import SweepRunner
    from evalake_runners.workers.stop import stop_on_signals

    project = current_project()
    request = make_request(project, flags, retry_failed=retry_failed)
    made = make_plan(project, request)
    require_reason(made.looks, request.confirm)
    for own in made.own_corpora:
        tell_left_out(own.stored.left_out)
    _tell_shallow(made.cells)
    with stop_on_signals() as stop:
        runner = SweepRunner(project, made, Progress(), stop)
        try:
            runner.run()
        except KeyboardInterrupt:
            _print_results(project, request, runner.results, as_json=flags["as_json"])
            say(f"stopped; what was finished is kept\n\nhint: {resume_command(request.command)}")
            return ExitCode.INTERRUPTED
    _print_results(project, request, runner.results, as_json=flags["as_json"])
    return _exit_code(runner.results)


def _print_results(
    project: Project, request: Request, results: list[CellResult], *, as_json: bool
) -> None:
    failures = failures_of(project, results)
    rows = [_row(result) for result in results]
    if as_json:
        print_json([{**row, "failures": as_rows(failures.get(row["run_id"], ()))} for row in rows])
        return
    _print_table(rows, hidden={"run_label"})
    _tell_other_labels(result.cell for result in results)
    _tell_unread(result.cell for result in results)
    for result in results:
        if result.message:
            say(f"{result.cell.arm.label} on {result.cell.dataset.dataset}: {result.message}")
    _tell_done([result.cell for result in results if result.state == "done"])
    if any(result.statuses or result.cell.is_joining for result in results):
        say("next: evalake build")
    tell_failures(project, results, failures, request.command)


def _row(result: CellResult) -> dict[str, Any]:
    cell = result.cell
    return {
        "arm": cell.arm.label,
        "dataset": cell.dataset.dataset,
        "split": cell.split,
        "repeat": cell.repeat,
        "state": result.state,
        "tasks": len(cell.tasks),
        "asked_now": result.statuses.total(),
        "failed": result.n_failed,
        "left": result.n_left,
        "run_id": result.run_id,
        "run_label": cell.run_label or cell.arm.label,
    }


def _tell_done(cells: Sequence[Cell]) -> None:
    """How to ask once more what was not asked now."""
    if cells:
        say(f"{len(cells)} done before; --again asks once more, as a new repeat beside the old run")


def _tell_other_labels(cells: Iterable[Cell]) -> None:
    """Where a run is found under another label than was asked for: a label is no part of an arm."""
    for cell in cells:
        if cell.other_label is not None:
            left = ", so that nothing is left to run" if cell.is_done else ""
            say(
                f"{cell.arm.label} on {cell.dataset.dataset}: the same arm was run before as "
                f"`{cell.other_label}`{left}; the run keeps that label: "
                f"evalake runs show {str(cell.run_id)[:_SHOWN_ID]}"
            )


def _tell_shallow(cells: Iterable[Cell]) -> None:
    """Warn of arms whose depth is smaller than the cutoff of their primary metric."""
    from evalake_runners.sweeps.depths import shallow

    told = (
        (cell, shallow(cell.arm.spec, cell.primary_metric, cell.dataset.primary_level))
        for cell in cells
    )
    lines = dict.fromkeys(
        f"warning: {cell.arm.label} on {cell.dataset.dataset}: {what}"
        for cell, what in told
        if what
    )
    for line in lines:
        say(line)


def _tell_unread(cells: Iterable[Cell]) -> None:
    """Warn of systems whose code cannot be identified: their cells are run again every time."""
    for label, unread in dict.fromkeys((cell.arm.label, cell.arm.unread) for cell in cells):
        if unread:
            say(
                f"warning: {label}: no source to read of {', '.join(unread)}, so its version is "
                "`unknown`, it is never done and its index never reused; name the files in "
                "`source_files`"
            )


def _print_table(rows: list[dict[str, Any]], hidden: Collection[str] = ()) -> None:
    """Rows in 80 columns: half a run id is unique, and a column that says nothing is left out."""
    silent = {name for name, usual in _USUAL.items() if all(row.get(name) == usual for row in rows)}
    shown = [
        {name: value for name, value in row.items() if name not in silent and name not in hidden}
        for row in rows
    ]
    for row in shown:
        if row.get("run_id"):
            row["run_id"] = row["run_id"][:_SHOWN_ID]
    print_rows(shown)


def _exit_code(results: list[CellResult]) -> int:
    whole = all(
        result.state in {"done", "ran"} and not result.n_failed and not result.n_left
        for result in results
    )
    nothing_answered = any(
        result.state == "ran"
        and result.cell.is_new
        and not (result.statuses["ok"] + result.statuses["empty"])
        for result in results
    )
    return ExitCode.OK if whole and not nothing_answered else ExitCode.INCOMPLETE
