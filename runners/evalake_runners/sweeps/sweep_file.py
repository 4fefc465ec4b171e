"""Read sweep and system files into arms; every problem of every file is reported at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evalake_ingest.corpora.rules import TEXT
from evalake_runners.adapters.registry import adapter_names, is_plugin
from evalake_runners.configuration.yaml_file import YamlFile, check_parts, read_yaml
from evalake_runners.configuration.yaml_values import Loc
from evalake_runners.sweeps.arms import ArmSpec, bind, role_of
from evalake_runners.sweeps.config import DEFAULT_DEPTH, ArmEntry, DatasetEntry, Sweep, SystemFile
from evalake_runners.sweeps.sweep_names import check_datasets, check_metric, not_ingested
from evalake_runners.workers.blobs import Blob
from evalake_runners.workers.describing import check_config
from evalake_warehouse.errors import ConfigError, EvalakeError, Problem, UsageError
from evalake_warehouse.labels import check_label
from evalake_warehouse.nearest import did_you_mean
from evalake_warehouse.project import Project, expanded

HINT = "evalake config schema"

# In place of what a sweep lacks, so that the rest of it can be checked.
_STAND_IN = {"name": "unnamed", "datasets": [{"dataset": "unnamed"}], "arms": [{}]}
_YAML = (".yaml", ".yml")
_BLOB_DEPTH = "{depth}: a blob is one item of depth 1; `blob_hits` is how many hits it is made of"


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
    file.raise_if_wrong(HINT if n_others else " && ".join(hints))
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
    label, arm = _arm(file, at, entry, project, depth=sweep.depth, baseline=sweep.baseline)
    written = content.get("label", label)  # one that is wrong still tells two arms apart
    return written if isinstance(written, str) else None, arm


def load_system(
    name: str,
    config_file: Path | None,
    project: Project,
    *,
    depth: int | None = None,
    label: str | None = None,
    corpus_dir: Path | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> ArmSpec:
    """The arm of `evalake run --system NAME [--config FILE]`.

    NAME is an adapter, a file of `configs/systems` without its ending, or any system file.

    Raises:
        UsageError: NAME is neither, or no run can be called by the label.
        ConfigError: with every problem of the file.
    """
    if label is not None:
        check_label(label)
    if config_file is None and name.endswith(_YAML):
        config_file = Path(name)
    shipped = project.configs / "systems" / f"{name}.yaml"
    if config_file is None and not _is_adapter(name):
        if not shipped.is_file():
            known = [*adapter_names(), *shipped_systems(project)]
            raise UsageError(
                f"unknown system `{name}`{did_you_mean(name, known)}", where="--system"
            )
        config_file = shipped
    if config_file is None:
        if wrong := check_config(name, {}):
            problems = [Problem(f"`{'.'.join(map(str, loc))}`", what) for loc, what in wrong]
            raise ConfigError(problems, hint=f"evalake config schema {name}")
        spec = ArmSpec(
            label=label or name,
            adapter=name,
            config={},
            depth=depth or DEFAULT_DEPTH,
            role=role_of(name, name, None),
            base_dirs=(Path.cwd(), project.configs),
            corpus_dir=corpus_dir,
            include=tuple(include),
            exclude=tuple(exclude),
        )
        return _tried(spec, project)
    file = read_yaml(config_file)
    parsed = file.salvage(SystemFile, file.content)
    arm = None
    if parsed is not None:
        if _is_adapter(name) and parsed.system != name:
            file.add(("system",), f"`{parsed.system}` is not `{name}`, which --system says")
        entry = ArmEntry(system=parsed.system, **parsed.model_dump(exclude={"system"}))
        _, arm = _arm(file, (), entry, project, depth=DEFAULT_DEPTH, baseline=None)
    file.raise_if_wrong(HINT)
    if arm is None:
        raise AssertionError("an arm without a problem is valid")
    if arm.blob is not None and depth not in (None, 1):
        raise UsageError(_BLOB_DEPTH.format(depth=depth), where="--depth")
    return replace(
        arm, depth=depth or arm.depth, label=label or arm.label, corpus_dir=corpus_dir,
        include=tuple(include), exclude=tuple(exclude),
    )  # fmt: skip


def is_system_file(content: Any) -> bool:
    """Whether a file's content is meant as one system, not as a sweep."""
    return isinstance(content, dict) and "system" in content and "arms" not in content


def shipped_systems(project: Project) -> list[str]:
    """Names of the system files that come with the project."""
    return sorted(file.stem for file in (project.configs / "systems").glob("*.yaml"))


def _is_adapter(name: str) -> bool:
    return name in adapter_names() or is_plugin(name)


def _arm(
    file: YamlFile, at: Loc, entry: ArmEntry, project: Project, *, depth: int, baseline: str | None
) -> tuple[str | None, ArmSpec | None]:
    """An arm's label and the arm; None where it has a problem, which is noted in `file`."""
    before = len(file.problems)
    used, used_file = _used(file, at, entry, project)
    system = used.system if used else entry.system
    if len(file.problems) > before:
        return entry.label, None
    label = entry.label or (used.label if used else None) or system
    if system is None:
        if used_file is None:
            file.add(at, "an arm needs `system` or `use`")
        _adopt(file, used_file)
        return label, None
    merged = {**(used.config if used else {}), **entry.config}
    try:
        wrong = check_config(system, merged)
    except EvalakeError as error:
        owner, where = (used_file, ()) if used_file else (file, at)
        owner.add((*where, "system"), error.problems[0].what)
        _adopt(file, used_file)
        return label, None
    for loc, what in wrong:
        in_used = used_file is not None and loc[:1] and loc[0] not in entry.config
        if in_used and used_file is not None:
            used_file.add(("config", *loc), what)
        else:
            file.add((*at, "config", *loc), what)
    _adopt(file, used_file)
    corpus_dir = _corpus_dir(file, at, entry)
    blob = _blob(file, at, entry, used, depth=depth)
    if len(file.problems) > before:
        return label, None
    folders = [file.path.parent, *([used_file.path.parent] if used_file else []), project.configs]
    spec = ArmSpec(
        label=label or system,
        adapter=system,
        config=merged,
        depth=1 if blob else entry.depth or (used.depth if used else None) or depth,
        query_variant=entry.query_variant or (used.query_variant if used else "default"),
        role=role_of(label or system, system, baseline),
        base_dirs=tuple(dict.fromkeys(folder.resolve() for folder in folders)),
        corpus_dir=corpus_dir,
        include=tuple(entry.include),
        exclude=tuple(entry.exclude),
        blob=blob,
    )
    try:
        return label, _tried(spec, project)
    except EvalakeError as error:
        for problem in error.problems:
            note = (
                "; beside `blob_bytes` that is `blob_hits`"
                if blob and "`depth`" in problem.what
                else ""
            )
            file.add((*at, "config") if entry.config else at, f"{problem}{note}")
        return label, None


def _blob(
    file: YamlFile, at: Loc, entry: ArmEntry, used: SystemFile | None, *, depth: int
) -> Blob | None:
    """How the arm's one text is made; None for a list. Problems are noted in `file`."""
    max_bytes = entry.blob_bytes or (used.blob_bytes if used else None)
    n_hits = entry.blob_hits or (used.blob_hits if used else None)
    if max_bytes is None:
        if n_hits is not None:
            file.add((*at, "blob_hits"), "has no meaning without `blob_bytes`")
        return None
    is_of_list = used is not None and used.blob_bytes is None  # the file's depth is a search's
    stated = entry.depth or (used.depth if used and not is_of_list else None)
    if stated not in (None, 1):
        file.add((*at, "depth"), _BLOB_DEPTH.format(depth=stated))
    return Blob(max_bytes, n_hits or (used.depth if used and is_of_list else None) or depth)


def _tried(spec: ArmSpec, project: Project) -> ArmSpec:
    """The arm, once its system could be made: a file it names may be missing."""
    bind(spec, dataset="", edition="", seed=0, project=project)
    return spec


def _corpus_dir(file: YamlFile, at: Loc, entry: ArmEntry) -> Path | None:
    for key, globs in (("include", entry.include), ("exclude", entry.exclude)):
        if globs and entry.corpus_dir is None:
            file.add((*at, key), "has no meaning without `corpus_dir`")
        try:
            TEXT.narrowed(**{key: globs})
        except UsageError as error:
            file.add((*at, key), error.problems[0].what)
    if entry.corpus_dir is None:
        return None
    place = (*at, "corpus_dir")
    is_home = entry.corpus_dir.startswith("~")
    try:
        folder = expanded(
            entry.corpus_dir if is_home else file.path.parent / entry.corpus_dir, where=""
        )
    except UsageError as error:
        file.add(place, error.problems[0].what)
        return None
    if not folder.is_dir():
        file.add(place, f"no such folder: {entry.corpus_dir}")
    return folder


def _used(
    file: YamlFile, at: Loc, entry: ArmEntry, project: Project
) -> tuple[SystemFile | None, YamlFile | None]:
    if entry.use is None:
        return None, None
    if entry.system is not None:
        file.add((*at, "system"), "give `use` or `system`, not both")
        return None, None
    for folder in (file.path.parent, project.configs):
        if (path := folder / entry.use).is_file():
            break
    else:
        known = [f"systems/{name}.yaml" for name in shipped_systems(project)]
        file.add((*at, "use"), f"no such file: {entry.use}{did_you_mean(entry.use, known)}")
        return None, None
    try:
        used_file = read_yaml(path)
    except ConfigError as error:
        file.problems += error.problems
        return None, None
    return used_file.salvage(SystemFile, used_file.content), used_file


def _adopt(file: YamlFile, other: YamlFile | None) -> None:
    if other is not None:
        file.problems += [problem for problem in other.problems if problem not in file.problems]
