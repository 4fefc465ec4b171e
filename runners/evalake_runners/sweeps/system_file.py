"""One system without a sweep: `evalake run --system NAME [--config FILE]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalake_runners.adapters.registry import adapter_names, is_plugin
from evalake_runners.configuration.yaml_file import read_yaml
from evalake_runners.sweeps.arm_entries import (
    BLOB_DEPTH,
    SCHEMA_HINT,
    read_arm,
    shipped_systems,
    try_arm,
)
from evalake_runners.sweeps.arms import ArmSpec, role_of
from evalake_runners.sweeps.config import DEFAULT_DEPTH, ArmEntry, SystemFile
from evalake_runners.workers.describing import check_config
from evalake_warehouse.errors import ConfigError, Problem, UsageError
from evalake_warehouse.labels import check_label
from evalake_warehouse.nearest import did_you_mean
from evalake_warehouse.project import Project

_YAML = (".yaml", ".yml")


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
        return try_arm(spec, project)
    file = read_yaml(config_file)
    parsed = file.salvage(SystemFile, file.content)
    arm = None
    if parsed is not None:
        if _is_adapter(name) and parsed.system != name:
            file.add(("system",), f"`{parsed.system}` is not `{name}`, which --system says")
        entry = ArmEntry(system=parsed.system, **parsed.model_dump(exclude={"system"}))
        _, arm = read_arm(file, (), entry, project, depth=DEFAULT_DEPTH, baseline=None)
    file.raise_if_wrong(SCHEMA_HINT)
    if arm is None:
        raise AssertionError("an arm without a problem is valid")
    if arm.blob is not None and depth not in (None, 1):
        raise UsageError(BLOB_DEPTH.format(depth=depth), where="--depth")
    return replace(
        arm, depth=depth or arm.depth, label=label or arm.label, corpus_dir=corpus_dir,
        include=tuple(include), exclude=tuple(exclude),
    )  # fmt: skip


def is_system_file(content: Any) -> bool:
    """Whether a file's content is meant as one system, not as a sweep."""
    return isinstance(content, dict) and "system" in content and "arms" not in content


def _is_adapter(name: str) -> bool:
    return name in adapter_names() or is_plugin(name)
