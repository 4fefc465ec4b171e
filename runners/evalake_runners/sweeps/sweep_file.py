"""Read a sweep file and the system files it uses; all that is wrong is reported at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalake_runners.configuration.yaml_file import YamlFile, check_parts, read_yaml
from evalake_runners.configuration.yaml_values import Loc
from evalake_runners.sweeps.arm_entries import SCHEMA_HINT, read_arm
from evalake_runners.sweeps.arms import ArmSpec
from evalake_runners.sweeps.config import ArmEntry, DatasetEntry, Sweep
from evalake_runners.sweeps.sweep_names import check_datasets, check_metric, not_ingested
from evalake_warehouse.nearest import did_you_mean
from evalake_warehouse.project import Project

# In place of what a sweep lacks, so that the rest of it can be checked.
_STAND_IN = {"name": "unnamed", "datasets": [{"dataset": "unnamed"}], "arms": [{}]}


@dataclass(frozen=True, slots=True)
class LoadedSweep:
    """A sweep file with its arms made."""

    sweep: Sweep
    arms: tuple[ArmSpec, ...]
    path: Path
    not_ingested: tuple[str, ...]  # datasets that must be ingested before it can run


def load_sweep(path: Path, project: Project) -> LoadedSweep:
    """Read and check one sweep file and the system files it uses.

    Args:
        project: `use` and configured paths are looked up in its `configs` folder, after the
            sweep's own.

    Raises:
        ConfigError: with every problem there is; nothing was run.
    """
    file = read_yaml(path)
    sweep = file.salvage(Sweep, file.content, stand_in=_STAND_IN)
    arms = _arms(file, sweep, project) if sweep else []
    if sweep and sweep.primary_metric:
        check_metric(file, sweep.primary_metric, project)
    if sweep:
        _refuse_twice(file, sweep)
    n_others = len(file.problems)
    hints = check_datasets(file, project)
    file.raise_if_wrong(SCHEMA_HINT if n_others else " && ".join(hints))
    if sweep is None:
        raise AssertionError("a sweep without a problem is valid")
    return LoadedSweep(sweep, tuple(arms), path, not_ingested(sweep, project))


def _refuse_twice(file: YamlFile, sweep: Sweep) -> None:
    first: dict[DatasetEntry, int] = {}
    for number, entry in enumerate(sweep.datasets):
        if first.setdefault(entry, number) != number:
            file.add(("datasets", number), f"the same tasks as `datasets[{first[entry]}]`")


def _arms(file: YamlFile, sweep: Sweep, project: Project) -> list[ArmSpec]:
    """The arms of a file, also of one with problems elsewhere; what is wrong is noted in it."""
    written = file.content.get("arms")
    entries = written if isinstance(written, list) else []
    arms: list[ArmSpec] = []
    seen: dict[str, int] = {}
    which = "no arm"
    for number, content in enumerate(entries):
        at: Loc = ("arms", number)
        label, arm = _labelled(file, at, content, sweep, project)
        if label is None:
            which = "no arm that could be read"
            continue
        if label in seen:
            file.add(at, f"label `{label}` is that of arm {seen[label] + 1} too; set `label`")
        seen.setdefault(label, number)
        if arm is not None:
            arms.append(arm)
    baseline = sweep.baseline
    if entries and baseline is not None and baseline not in seen:
        file.add(("baseline",), f"{which} has this label{did_you_mean(baseline, sorted(seen))}")
    return arms


def _labelled(
    file: YamlFile, at: Loc, content: Any, sweep: Sweep, project: Project
) -> tuple[str | None, ArmSpec | None]:
    """An arm's label, as far as it can be told, and the arm."""
    entry, _ = check_parts(ArmEntry, content)  # what is wrong was noted with the sweep
    if entry is None:
        return None, None
    label, arm = read_arm(file, at, entry, project, depth=sweep.depth, baseline=sweep.baseline)
    written = content.get("label", label)  # one that is wrong still tells two arms apart
    return written if isinstance(written, str) else None, arm
