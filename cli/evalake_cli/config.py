"""`evalake config`: check files, list their keys, show what an arm really is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evalake_cli.app import JsonFlag, app, current_project
from evalake_cli.output import print_json, print_rows, say

if TYPE_CHECKING:
    from pydantic import BaseModel

    from evalake_runners.sweeps.arms import ArmSpec
    from evalake_runners.sweeps.sweep_file import LoadedSweep

config_app = typer.Typer(no_args_is_help=True, help="Sweep and system files.")
app.add_typer(config_app, name="config")

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A sweep or system file.")]


@config_app.command(epilog="Exits 2 with every problem there is.  |  "
                    "Example: evalake config check configs/sweeps/demo.yaml")  # fmt: skip
def check(file: FileArgument, as_json: JsonFlag = False) -> None:
    """Check a file and everything it uses; runs nothing.

    A dataset that `evalake ingest` knows and the lake does not have yet is told; no other passes.
    So is a depth that is small for the metric that arms are judged by.
    """
    arms, loaded = _arms(file)
    absent = loaded.not_ingested if loaded else ()
    labels = [arm.label for arm in arms]
    warnings = _shallow(loaded) if loaded else []
    if as_json:
        print_json(
            {
                "file": str(file),
                "arms": labels,
                "not_ingested": list(absent),
                "warnings": warnings,
            }
        )
        return
    say(f"{file}: ok, {', '.join(labels)}")
    for warning in warnings:
        say(f"warning: {warning}")
    if absent:
        say(f"not ingested here, so it cannot run yet: {', '.join(absent)}")
        say(f"\nhint: {' && '.join(f'evalake ingest {name}' for name in absent)}")


@config_app.command(epilog="Example: evalake config schema bm25")
def schema(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="sweep, system, or the name of a system.")
    ] = "sweep",
    as_json: JsonFlag = False,
) -> None:
    """List the keys of a sweep file, a system file, or one system's `config`."""
    rows, key_schema = _keys(name)
    if as_json:
        print_json(key_schema)
    else:
        print_rows(rows)


@config_app.command(epilog="Example: evalake config show configs/sweeps/demo.yaml --json")
def show(file: FileArgument, as_json: JsonFlag = False) -> None:
    """Show each arm as it would be recorded, in YAML: versions, hash, effective configuration."""
    from evalake_runners.sweeps.arms import bind

    rows: list[dict[str, Any]] = []
    arms, _ = _arms(file)
    for spec in arms:
        arm = bind(spec, dataset="", edition="", seed=0, project=current_project())
        rows.append(
            {
                "arm": arm.label,
                "role": spec.role,
                "system": arm.system,
                "version": arm.system_version,
                "adapter_version": arm.adapter_version,
                "depth": spec.depth,
                "query_variant": spec.query_variant,
                "output": arm.output,
                "arm_hash": arm.arm_hash,
                "config": _loads(arm.config_json),
                "files": dict(arm.config_files),
            }
        )
    if as_json:
        print_json(rows)
        return
    from ruamel.yaml import YAML

    YAML().dump(rows, sys.stdout)


def _shallow(loaded: LoadedSweep) -> list[str]:
    """Arms whose depth is small for the metric that a dataset in the lake judges them by."""
    from evalake_runners.engine.lake_read import LakeView
    from evalake_runners.sweeps.depths import shallow

    view = LakeView(current_project().home)
    found: dict[str, None] = {}
    for entry in loaded.sweep.datasets:
        if entry.dataset in loaded.not_ingested:
            continue
        dataset = view.dataset(entry.dataset, entry.edition)
        metric = loaded.sweep.primary_metric or dataset.primary_metric
        for arm in loaded.arms:
            if what := shallow(arm, metric, dataset.primary_level):
                found.setdefault(f"{arm.label} on {dataset.dataset}: {what}")
    return list(found)


def _arms(file: Path) -> tuple[tuple[ArmSpec, ...], LoadedSweep | None]:
    """The arms of a file, and what else it says if it is a sweep."""
    from evalake_runners.configuration.yaml_file import read_yaml
    from evalake_runners.sweeps.sweep_file import load_sweep
    from evalake_runners.sweeps.system_file import is_system_file, load_system

    project = current_project()
    content = read_yaml(file).content
    if is_system_file(content):
        arm = load_system(str(content.get("system")), file, project, depth=None, label=None)
        return (arm,), None
    loaded = load_sweep(file, project)
    return loaded.arms, loaded


def _keys(name: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The keys that a file or a system takes, as rows and as a JSON schema."""
    from evalake_runners.sweeps.config import Sweep, SystemFile
    from evalake_runners.workers.describing import list_keys
    from evalake_runners.workers.systems import key_rows

    models: dict[str, type[BaseModel]] = {"sweep": Sweep, "system": SystemFile}
    if name not in models:
        return list_keys(name)
    return list(key_rows(models[name])), models[name].model_json_schema()


def _loads(text: str) -> Any:
    import json

    return json.loads(text)
