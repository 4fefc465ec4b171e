"""What a system says of itself, checked and made plain: the part of it that an arm is made from."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalake_runners.adapters.protocol import System
from evalake_warehouse.errors import EvalakeError, UsageError
from evalake_warehouse.identity import canonical_json

OUTPUTS = ("ranked", "composite", "blob")
_TEXTS = ("name", "version", "adapter_version", "output")
_METHODS = ("public_config", "config_files", "ingestion_config", "index", "open")
_MISSING = object()
_MEMBERS = (*_TEXTS, "needs_network", *_METHODS)


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """Plain values only: they pickle, and nothing of the system's own is left in them."""

    name: str
    version: str
    adapter_version: str
    output: str
    needs_network: bool
    gives_text: bool
    branches: tuple[str, ...]
    config: Mapping[str, Any]
    ingestion: Mapping[str, Any]
    config_files: Mapping[str, Path]
    source_files: tuple[str, ...]


def facts_of(system: System, adapter: str) -> SystemFacts:
    """Read a system's members, every one of them checked.

    Args:
        adapter: the name the system was asked for by, for messages.

    Raises:
        UsageError: members are missing, of another type, or raise.
    """
    members = {name: _read(system, name, adapter) for name in _MEMBERS}
    missing = [f"`{name}`" for name, value in members.items() if value is _MISSING]
    if missing:
        what = f"the system that `make` returned has no {', '.join(missing)}"
        raise UsageError(what, where=adapter)
    for name in _TEXTS:
        if not isinstance(members[name], str) or not members[name]:
            raise UsageError(f"`{name}` must be a text, not {members[name]!r}", where=adapter)
    for name in _METHODS:
        if not callable(members[name]):
            raise UsageError(f"`{name}` must be a method", where=adapter)
    if system.output not in OUTPUTS:
        known = ", ".join(OUTPUTS)
        raise UsageError(f"`output` must be one of {known}, not {system.output!r}", where=adapter)
    return SystemFacts(
        name=system.name,
        version=system.version,
        adapter_version=system.adapter_version,
        output=system.output,
        needs_network=bool(system.needs_network),
        gives_text=bool(_read(system, "gives_text", adapter)),  # unless it says otherwise
        branches=tuple(sorted(set(_names(system, "branches", adapter)))),
        config=_mapping(system.public_config, adapter),
        ingestion=_mapping(system.ingestion_config, adapter),
        config_files=_paths(system, adapter),
        source_files=_names(system, "source_files", adapter),
    )


def place_of(error: BaseException) -> str:
    """`file.py:12`, where an exception came from; empty where nothing tells."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}:{error.lineno}"
    tracked = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in tracked if not frame.filename.startswith("<frozen")]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""


def told(error: BaseException) -> str:
    """`TypeError: message (file.py:12)`."""
    place = place_of(error)
    return f"{type(error).__name__}: {error}" + (f" ({place})" if place else "")


def _read(system: System, member: str, adapter: str) -> Any:
    try:
        return getattr(system, member, _MISSING)
    except Exception as error:
        raise UsageError(f"`{member}` raised {told(error)}", where=adapter) from error


def _names(system: System, member: str, adapter: str) -> tuple[str, ...]:
    named = _read(system, member, adapter)
    if named is _MISSING:
        return ()
    is_list = isinstance(named, Iterable) and not isinstance(named, str | Path)
    if not is_list or not all(isinstance(name, str | Path) for name in named):
        raise UsageError(f"`{member}` must be a list of names, not {named!r}", where=adapter)
    return tuple(map(str, named))


def _called(method: Callable[[], Any], adapter: str) -> Any:
    try:
        return method()
    except EvalakeError:
        raise
    except Exception as error:
        raise UsageError(f"`{method.__name__}` raised {told(error)}", where=adapter) from error


def _mapping(method: Callable[[], Any], adapter: str) -> Mapping[str, Any]:
    value = _called(method, adapter)
    try:
        if isinstance(value, Mapping) and canonical_json(dict(value)):
            return dict(value)
    except (TypeError, ValueError):
        pass
    what = f"`{method.__name__}` must return a mapping that JSON can hold, not {value!r}"
    raise UsageError(what, where=adapter)


def _paths(system: System, adapter: str) -> Mapping[str, Path]:
    value = _called(system.config_files, adapter)
    if not isinstance(value, Mapping) or not all(isinstance(p, str | Path) for p in value.values()):
        what = f"`config_files` must return names with their paths, not {value!r}"
        raise UsageError(what, where=adapter)
    return {str(name): Path(path) for name, path in value.items()}
