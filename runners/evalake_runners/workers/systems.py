"""Make a configured system, and ask it about itself, in the process that its code may run in."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel

from evalake_runners.adapters.facts import facts_of, told
from evalake_runners.adapters.protocol import System
from evalake_runners.adapters.registry import get_adapter, is_plugin, plugin_module
from evalake_runners.adapters.setup import Setup, Strict
from evalake_runners.adapters.sources import read_source
from evalake_runners.configuration.yaml_file import check, model_in
from evalake_warehouse.errors import ConfigError, EvalakeError, Problem, UsageError


def make_system(adapter: str, config: Mapping[str, Any], setup: Setup) -> tuple[System, Strict]:
    """A system, which starts nothing yet, and its whole configuration.

    Raises:
        ConfigError: the configuration does not fit.
        UsageError: it cannot be made here, for instance because its package is missing.
    """
    found = get_adapter(adapter)
    checked, wrong = check(found.config_model, config)
    if checked is None:
        where = f"{adapter}: `config"
        raise ConfigError(
            [Problem(".".join((where, *map(str, loc))) + "`", what) for loc, what in wrong]
        )
    try:
        return found.make(checked, setup), checked
    except EvalakeError:
        raise
    except Exception as error:
        what = f"system `{adapter}` cannot be made: {told(error)}"
        raise UsageError(what, hint="evalake doctor") from error


def tell(what: str, *arguments: Any) -> Any:
    """Answer `check`, `keys` or `describe` in values that JSON can hold.

    Raises:
        EvalakeError: the system or its configuration is at fault.
    """
    tellers: dict[str, Callable[..., Any]] = {
        "check": _tell_problems, "keys": _tell_keys, "describe": _tell_facts,
    }  # fmt: skip
    return tellers[what](*arguments)


def loaded_files() -> tuple[str, ...]:
    """Files of modules that were loaded into this process and are neither installed nor ours."""
    files = {name: getattr(module, "__file__", None) for name, module in list(sys.modules.items())}
    installed = tuple(sysconfig.get_paths()[kind] for kind in ("stdlib", "purelib", "platlib"))
    return tuple(
        sorted(
            file
            for name, file in files.items()
            if isinstance(file, str)
            and not file.startswith(installed)
            and not name.startswith("evalake_")
        )
    )


def key_rows(model: type[BaseModel], prefix: str = "") -> Iterator[dict[str, Any]]:
    """One row per key of a model, those of nested models under their own."""
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
            yield from key_rows(inner, f"{prefix}{key}{'[]' if is_list else ''}.")


def _tell_problems(adapter: str, config: Mapping[str, Any]) -> Any:
    return check(get_adapter(adapter).config_model, config)[1]


def _tell_keys(adapter: str) -> Any:
    model = get_adapter(adapter).config_model
    return {"rows": list(key_rows(model)), "schema": model.model_json_schema()}


def _tell_facts(adapter: str, config: Mapping[str, Any], setup: Setup) -> Any:
    system, checked = make_system(adapter, config, setup)
    facts = asdict(facts_of(system, adapter))
    facts["config_files"] = {name: str(path) for name, path in facts["config_files"].items()}
    facts["source_files"] = [*get_adapter(adapter).source_files, *facts["source_files"]]
    try:
        whole = checked.model_dump(mode="json")
    except ValueError as error:
        raise UsageError(f"`CONFIG` cannot be written as JSON: {error}", where=adapter) from error
    return {"facts": facts, "config": whole, "source": _source(adapter, facts, setup)}


def _source(adapter: str, facts: Mapping[str, Any], setup: Setup) -> Mapping[str, Any] | None:
    """The code of a system of the user's own; None for a shipped one, which has a version."""
    if not is_plugin(adapter):
        return None
    return asdict(
        read_source(plugin_module(adapter), facts["source_files"], leave_out=setup.project.home)
    )
