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

    from evalake_runners.engine.arms import ArmSpec

config_app = typer.Typer(no_args_is_help=True, help="Sweep and system files.")
app.add_typer(config_app, name="config")

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A sweep or system file.")]


@config_app.command(epilog="Exits 2 with every problem there is.  |  "
                    "Example: evalake config check configs/sweeps/demo.yaml")  # fmt: skip
def check(file: FileArgument, as_json: JsonFlag = False) -> None:
    """Check a file and everything it uses; runs nothing.

    A dataset that `evalake ingest` knows and the lake does not have yet is told; no other passes.
    """
    arms, absent = _arms(file)
    labels = [arm.label for arm in arms]
    if as_json:
        print_json({"file": str(file), "arms": labels, "not_ingested": list(absent)})
        return
    say(f"{file}: ok, {', '.join(labels)}")
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
    model = _model(name)
    if as_json:
        print_json(model.model_json_schema())
    else:
        print_rows(list(_key_rows(model, "")))


@config_app.command(epilog="Example: evalake config show configs/sweeps/demo.yaml --json")
def show(file: FileArgument, as_json: JsonFlag = False) -> None:
    """Show each arm as it would be recorded, in YAML: versions, hash, effective configuration."""
    from evalake_runners.engine.arms import bind

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


def _arms(file: Path) -> tuple[tuple[ArmSpec, ...], tuple[str, ...]]:
    """The arms of a file, and the datasets that it needs and the lake does not have."""
    from evalake_runners.sweeps.sweep_file import is_system_file, load_sweep, load_system
    from evalake_runners.sweeps.yaml_file import read_yaml

    project = current_project()
    content = read_yaml(file).content
    if is_system_file(content):
        arm = load_system(str(content.get("system")), file, project, depth=None, label=None)
        return (arm,), ()
    loaded = load_sweep(file, project)
    return loaded.arms, loaded.not_ingested


def _model(name: str) -> type[BaseModel]:
    from evalake_runners.adapters.registry import get_adapter
    from evalake_runners.sweeps.config import Sweep, SystemFile

    models: dict[str, type[BaseModel]] = {"sweep": Sweep, "system": SystemFile}
    return models[name] if name in models else get_adapter(name).config_model


def _key_rows(model: type[BaseModel], prefix: str) -> Any:
    """One row per key, those of nested models under their own."""
    from evalake_runners.sweeps.yaml_file import model_in

    for key, info in model.model_fields.items():
        inner = model_in(info.annotation)
        is_list = "list" in str(info.annotation)
        default = info.get_default(call_default_factory=True) if not info.is_required() else None
        yield {
            "key": f"{prefix}{key}{'[]' if inner and is_list else ''}",
            "required": info.is_required(),
            "default": None if inner or default is None else str(default),
            "description": info.description,
        }
        if inner:
            yield from _key_rows(inner, f"{prefix}{key}{'[]' if is_list else ''}.")


def _loads(text: str) -> Any:
    import json

    return json.loads(text)
