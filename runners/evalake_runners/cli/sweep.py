"""`evalake plan`, `run` and `resume`: what a sweep would do, does, and still has to do."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evalake_runners.cli.app import JsonFlag, app, current_project
from evalake_runners.cli.output import print_json, print_rows, say
from evalake_warehouse.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from evalake_runners.config import DatasetEntry
    from evalake_runners.engine.cell_run import CellResult
    from evalake_runners.engine.plan import Request
    from evalake_warehouse.project import Project

_EXITS = (
    "Exits 0 when all is done, 2 if nothing was run, 3 if tasks failed or are left, 130 if stopped."
)

_SHOWN_ID = 13  # of a UUID version 7: its time to the millisecond
_USUAL = {"repeat": 1, "failed": 0, "left": 0}

SweepArgument = Annotated[
    Path | None, typer.Argument(metavar="SWEEP.yaml", help="Sweep file; or use --system.")
]
SystemOption = Annotated[
    str | None, typer.Option(help="One system instead of a sweep: an adapter or a shipped config.")
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="System file with that system's configuration.")
]
DatasetOption = Annotated[str | None, typer.Option(help="Dataset for --system.")]
SplitOption = Annotated[
    str | None, typer.Option(help="dev, test, small_dev, small_test or all; overrides the sweep's.")
]
RepoOption = Annotated[str | None, typer.Option(help="Only the tasks of this repository.")]
LibraryOption = Annotated[str | None, typer.Option(help="Only the tasks of this library.")]
LabelOption = Annotated[str | None, typer.Option(help="Name of the --system arm in tables.")]
DepthOption = Annotated[int | None, typer.Option(min=1, max=10_000, help="Hits asked for.")]
SeedOption = Annotated[int | None, typer.Option(min=0, help="For systems that draw at random.")]
JobsOption = Annotated[
    int | None, typer.Option(min=1, max=64, help="Worker processes; overrides the sweep's limits.")
]
LimitOption = Annotated[int | None, typer.Option(min=1, help="Only so many tasks of each split.")]
TimeoutOption = Annotated[
    float | None,
    typer.Option(min=0.001, metavar="SECONDS", help="Per task; overrides the sweep's."),
]
CacheOption = Annotated[
    str, typer.Option(metavar="on|off", help="off: build every index anew, to time it.")
]
ConfirmOption = Annotated[
    str | None, typer.Option(metavar="WHY", help="Reason to use tasks of the test tail.")
]


@app.command(epilog="Example: evalake plan configs/sweeps/demo.yaml")
def plan(
    sweep: SweepArgument = None,
    *,
    system: SystemOption = None,
    config: ConfigOption = None,
    dataset: DatasetOption = None,
    split: SplitOption = None,
    repo: RepoOption = None,
    library: LibraryOption = None,
    label: LabelOption = None,
    depth: DepthOption = None,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    limit: LimitOption = None,
    timeout: TimeoutOption = None,
    cache: CacheOption = "on",
    as_json: JsonFlag = False,
) -> int:
    """Show what a sweep would run, what is done, and the time it may take; spends nothing."""
    flags = dict(locals())
    from evalake_runners.engine.lake_read import LakeView
    from evalake_runners.engine.plan import make_plan, plan_rows

    project = current_project()
    request = _request(project, flags)
    view = LakeView(project.home)
    made = make_plan(project, request, view)
    rows = plan_rows(project, made, view)
    if as_json:
        print_json(rows)
        return ExitCode.OK
    _print_table(rows, hidden={"run_id", "arm_hash"})
    if made.looks:
        say('some cells use the test tail: running them needs --confirm "why"')
    return ExitCode.OK


@app.command(
    epilog=f"{_EXITS}  |  Example: evalake run --system bm25 --dataset starter --split dev"
)
def run(
    sweep: SweepArgument = None,
    *,
    system: SystemOption = None,
    config: ConfigOption = None,
    dataset: DatasetOption = None,
    split: SplitOption = None,
    repo: RepoOption = None,
    library: LibraryOption = None,
    label: LabelOption = None,
    depth: DepthOption = None,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    limit: LimitOption = None,
    timeout: TimeoutOption = None,
    cache: CacheOption = "on",
    confirm: ConfirmOption = None,
    as_json: JsonFlag = False,
) -> int:
    """Run what is not done of a sweep, or of one system on one dataset.

    Failures of tasks, indexes and arms are recorded, and the rest goes on. The same command
    again does only what is left; `evalake resume` also tries failed tasks again.
    """
    return _run(locals(), retry_failed=False)


@app.command(epilog=f"{_EXITS}  |  Example: evalake resume configs/sweeps/demo.yaml")
def resume(
    sweep: SweepArgument = None,
    *,
    system: SystemOption = None,
    config: ConfigOption = None,
    dataset: DatasetOption = None,
    split: SplitOption = None,
    repo: RepoOption = None,
    library: LibraryOption = None,
    label: LabelOption = None,
    depth: DepthOption = None,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    limit: LimitOption = None,
    timeout: TimeoutOption = None,
    cache: CacheOption = "on",
    confirm: ConfirmOption = None,
    as_json: JsonFlag = False,
) -> int:
    """Finish a sweep that was cut short, and try its failed tasks once more."""
    return _run(locals(), retry_failed=True)


def _run(flags: dict[str, Any], *, retry_failed: bool) -> int:
    from evalake_runners.engine.looks import require_reason
    from evalake_runners.engine.plan import make_plan
    from evalake_runners.engine.progress import Progress
    from evalake_runners.engine.runner import SweepRunner
    from evalake_runners.engine.stop import stop_on_signals

    project = current_project()
    request = _request(project, flags, retry_failed=retry_failed)
    made = make_plan(project, request)
    require_reason(made.looks, request.confirm)
    with stop_on_signals() as stop:
        runner = SweepRunner(project, made, Progress(), stop)
        try:
            runner.run()
        except KeyboardInterrupt:
            _print_results(runner.results, as_json=flags["as_json"])
            say(
                "stopped; what was finished is kept\n\nhint: evalake resume with the same arguments"
            )
            return ExitCode.INTERRUPTED
    _print_results(runner.results, as_json=flags["as_json"])
    return _exit_code(runner.results)


def _request(project: Project, flags: dict[str, Any], *, retry_failed: bool = False) -> Request:
    """What the flags ask for; the sweep file is read and checked here."""
    from evalake_runners.config import DatasetEntry, Limits
    from evalake_runners.engine.plan import Request
    from evalake_runners.sweep_file import load_sweep, load_system

    if flags["cache"] not in {"on", "off"}:
        raise UsageError(f"`{flags['cache']}` is neither on nor off", where="--cache")
    changed = {"jobs": flags["jobs"], "timeout_s": flags["timeout"]}
    changed = {name: value for name, value in changed.items() if value is not None}
    common: dict[str, Any] = {
        "limit": flags["limit"],
        "retry_failed": retry_failed,
        "confirm": flags.get("confirm"),
        "reuse_indexes": flags["cache"] == "on",
        "command": shlex.join(["evalake", *sys.argv[1:]]),
    }
    if flags["sweep"] is not None:
        _refuse_with_sweep(flags)
        loaded = load_sweep(flags["sweep"], project)
        sweep = loaded.sweep
        return Request(
            arms=loaded.arms,
            datasets=tuple(_on_split(entry, flags["split"]) for entry in sweep.datasets),
            limits=sweep.limits.model_copy(update=changed),
            seed=sweep.seed if flags["seed"] is None else flags["seed"],
            repeats=sweep.repeats,
            sweep_id=sweep.name,
            family=sweep.family or sweep.name,
            primary_metric=sweep.primary_metric,
            **common,
        )
    if flags["system"] is None or flags["dataset"] is None:
        raise UsageError(
            "name a sweep file, or --system and --dataset",
            hint="evalake run --system bm25 --dataset starter",
        )
    arm = load_system(
        flags["system"], flags["config"], project,
        depth=flags["depth"], label=flags["label"],
    )  # fmt: skip
    entry = DatasetEntry(
        dataset=flags["dataset"], split=_split(flags["split"]), repo=flags["repo"],
        library=flags["library"],
    )  # fmt: skip
    return Request(
        arms=(arm,),
        datasets=(entry,),
        limits=Limits(**changed),
        seed=flags["seed"] or 0,
        **common,
    )


def _refuse_with_sweep(flags: dict[str, Any]) -> None:
    names = ("system", "config", "dataset", "repo", "library", "label", "depth")
    given = [f"--{name}" for name in names if flags[name] is not None]
    if given:
        raise UsageError(f"{', '.join(given)}: set in the sweep file, not beside it", where="SWEEP")


def _on_split(entry: DatasetEntry, split: str | None) -> DatasetEntry:
    """The same arms on another split: tuned on dev, then looked at once on test."""
    return entry if split is None else entry.model_copy(update={"split": _split(split)})


def _split(name: str | None) -> Any:
    from typing import get_args

    from evalake_runners.config import Split
    from evalake_runners.yaml_file import did_you_mean

    known = get_args(Split)
    if name is not None and name not in known:
        raise UsageError(f"unknown split `{name}`{did_you_mean(name, known)}", where="--split")
    return name


def _print_results(results: list[CellResult], *, as_json: bool) -> None:
    rows = [_row(result) for result in results]
    if as_json:
        print_json(rows)
        return
    _print_table(rows)
    for result in results:
        if result.message:
            say(f"{result.cell.arm.label} on {result.cell.dataset.dataset}: {result.message}")
    if any(result.statuses for result in results):
        say("next: evalake build")
    n_failed = sum(result.n_failed for result in results)
    if n_failed:
        say(f"{n_failed} tasks failed\n\nhint: evalake resume with the same arguments")


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
    }


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
