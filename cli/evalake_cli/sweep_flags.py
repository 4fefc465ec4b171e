"""What `plan`, `run` and `resume` take, and the request that their flags make."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from evalake_cli.app import JsonFlag
from evalake_warehouse.errors import ConfigError, Problem, UsageError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from evalake_runners.engine.plan import Request
    from evalake_runners.sweeps.config import DatasetEntry
    from evalake_warehouse.project import Project

Model = TypeVar("Model", bound="BaseModel")

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
CorpusDirOption = Annotated[
    Path | None,
    typer.Option(
        exists=True, file_okay=False, help="Search this folder, not the dataset's corpora."
    ),
]
IncludeOption = Annotated[
    list[str] | None,
    typer.Option(metavar="GLOB", help="Only these files of --corpus-dir; may be repeated."),
]
ExcludeOption = Annotated[
    list[str] | None,
    typer.Option(metavar="GLOB", help="Without these files of --corpus-dir; may be repeated."),
]
LabelOption = Annotated[str | None, typer.Option(help="Name of the --system arm in tables.")]
DepthOption = Annotated[int | None, typer.Option(min=1, max=10_000, help="Hits asked for.")]
SeedOption = Annotated[
    int | None, typer.Option(min=0, max=2**63 - 1, help="For systems that draw at random.")
]
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
AgainOption = Annotated[
    bool, typer.Option("--again", help="Ask what is done once more, as a new repeat.")
]
ConfirmOption = Annotated[
    str | None, typer.Option(metavar="WHY", help="Reason to use tasks of the test tail.")
]


def _flags(
    sweep: SweepArgument = None,
    *,
    system: SystemOption = None,
    config: ConfigOption = None,
    dataset: DatasetOption = None,
    split: SplitOption = None,
    repo: RepoOption = None,
    library: LibraryOption = None,
    corpus_dir: CorpusDirOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    label: LabelOption = None,
    depth: DepthOption = None,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    limit: LimitOption = None,
    timeout: TimeoutOption = None,
    cache: CacheOption = "on",
    again: AgainOption = False,
    confirm: ConfirmOption = None,
    as_json: JsonFlag = False,
) -> int:
    raise NotImplementedError  # never called: its parameters are what three commands take


def takes_sweep_flags(command: Callable[[dict[str, Any]], int]) -> Callable[..., int]:
    """`command(flags)` as a function with one parameter per flag, which is what typer reads."""

    def with_flags(sweep: Path | None = None, **flags: Any) -> int:
        return command({"sweep": sweep, **flags})

    with_flags.__name__, with_flags.__doc__ = command.__name__, command.__doc__
    with_flags.__annotations__ = _flags.__annotations__
    with_flags.__wrapped__ = _flags  # type: ignore[attr-defined]  # its signature, and names
    return with_flags


def make_request(project: Project, flags: dict[str, Any], *, retry_failed: bool = False) -> Request:
    """What the flags ask for; the sweep file is read and checked here."""
    from evalake_runners.engine.plan import Request
    from evalake_runners.sweeps.config import DatasetEntry, Limits
    from evalake_runners.sweeps.sweep_file import load_sweep
    from evalake_runners.sweeps.system_file import load_system

    if flags["cache"] not in {"on", "off"}:
        raise UsageError(f"`{flags['cache']}` is neither on nor off", where="--cache")
    changed = {"jobs": flags["jobs"], "timeout_s": flags["timeout"]}
    changed = {name: value for name, value in changed.items() if value is not None}
    common: dict[str, Any] = {
        "limit": flags["limit"],
        "retry_failed": retry_failed,
        "again": flags["again"],
        "confirm": flags["confirm"],
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
            limits=_checked(Limits, sweep.limits.model_dump() | changed, _LIMIT_FLAGS),
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
    globs = {name: flags[name] or [] for name in ("include", "exclude")}
    if flags["corpus_dir"] is None and any(globs.values()):
        raise UsageError("has no meaning without --corpus-dir", where="--include and --exclude")
    arm = load_system(
        flags["system"], flags["config"], project,
        depth=flags["depth"], label=flags["label"],
        corpus_dir=flags["corpus_dir"], **globs,
    )  # fmt: skip
    names = ("dataset", "split", "repo", "library")
    _split(flags["split"])
    entry = _checked(DatasetEntry, {name: flags[name] for name in names})
    return Request(
        arms=(arm,),
        datasets=(entry,),
        limits=_checked(Limits, changed, _LIMIT_FLAGS),
        seed=flags["seed"] or 0,
        **common,
    )


_LIMIT_FLAGS = {"timeout_s": "timeout"}


def _checked(
    model: type[Model], values: dict[str, Any], flags: Mapping[str, str] = MappingProxyType({})
) -> Model:
    """A model of what flags say; problems name the flag."""
    from evalake_runners.configuration.yaml_file import check

    made, wrong = check(model, values)
    if made is None:
        raise ConfigError(
            [Problem(f"--{flags.get(str(loc[0]), loc[0])}", what) for loc, what in wrong]
        )
    return made


def _refuse_with_sweep(flags: dict[str, Any]) -> None:
    names = (
        "system", "config", "dataset", "repo", "library", "corpus_dir", "include", "exclude",
        "label", "depth",
    )  # fmt: skip
    given = [f"--{name.replace('_', '-')}" for name in names if flags[name]]
    if given:
        raise UsageError(f"{', '.join(given)}: set in the sweep file, not beside it", where="SWEEP")


def _on_split(entry: DatasetEntry, split: str | None) -> DatasetEntry:
    """The same arms on another split: tuned on dev, then looked at once on test."""
    return entry if split is None else entry.model_copy(update={"split": _split(split)})


def _split(name: str | None) -> Any:
    from evalake_warehouse.nearest import did_you_mean
    from evalake_warehouse.vocabulary import SPLITS

    known = SPLITS
    if name is not None and name not in known:
        raise UsageError(f"unknown split `{name}`{did_you_mean(name, known)}", where="--split")
    return name
