"""One arm, as a sweep file or a system file says it: its parts checked, its system made once."""

from __future__ import annotations

from pathlib import Path

from evalake_ingest.corpora.rules import TEXT
from evalake_runners.configuration.yaml_file import YamlFile, read_yaml
from evalake_runners.configuration.yaml_values import Loc
from evalake_runners.sweeps.arms import ArmSpec, bind, role_of
from evalake_runners.sweeps.config import ArmEntry, SystemFile
from evalake_runners.workers.blobs import Blob
from evalake_runners.workers.describing import check_config
from evalake_warehouse.errors import ConfigError, EvalakeError, UsageError
from evalake_warehouse.nearest import did_you_mean
from evalake_warehouse.project import Project, expanded

SCHEMA_HINT = "evalake config schema"
BLOB_DEPTH = "{depth}: a blob is one item of depth 1; `blob_hits` is how many hits it is made of"


def shipped_systems(project: Project) -> list[str]:
    """Names of the system files that come with the project."""
    return sorted(file.stem for file in (project.configs / "systems").glob("*.yaml"))


def read_arm(
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
        return label, try_arm(spec, project)
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
        file.add((*at, "depth"), BLOB_DEPTH.format(depth=stated))
    return Blob(max_bytes, n_hits or (used.depth if used and is_of_list else None) or depth)


def try_arm(spec: ArmSpec, project: Project) -> ArmSpec:
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
