"""What a system says of itself, checked and made plain: the part of it that an arm is made from."""

from __future__ import annotations

import json
import reprlib
import traceback
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from evalake_runners.adapters.protocol import System
from evalake_warehouse.errors import EvalakeError, UsageError
from evalake_warehouse.identity import canonical_json
from evalake_warehouse.vocabulary import OUTPUTS

_TEXTS = ("name", "version", "adapter_version", "output")
_METHODS = ("public_config", "config_files", "ingestion_config", "index", "open")
_MISSING = object()
_MAX_CHARS = 200
# Methods that a fact is the answer of.
_CALLED = {
    "public_config": "config", "ingestion_config": "ingestion", "config_files": "config_files",
}  # fmt: skip
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
    needs_corpus: bool
    branches: tuple[str, ...]
    config: Mapping[str, Any]
    ingestion: Mapping[str, Any]
    config_files: Mapping[str, Path]
    source_files: tuple[str, ...]


def facts_of(system: System | SimpleNamespace, adapter: str) -> SystemFacts:
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
        members[name] = _text(members[name], f"`{name}`", adapter)
    for name in _METHODS:
        if not callable(members[name]):
            raise UsageError(f"`{name}` must be a method", where=adapter)
    if not isinstance(members["needs_network"], bool):
        what = f"`needs_network` must be True or False, not {_shown(members['needs_network'])}"
        raise UsageError(what, where=adapter)
    if members["output"] not in OUTPUTS:
        what = f"`output` must be one of {', '.join(OUTPUTS)}, not {_shown(members['output'])}"
        raise UsageError(what, where=adapter)
    if not _is_plain_name(members["name"]):
        what = f"`name` must be one without slashes and no hidden one, not {members['name']!r}"
        raise UsageError(what, where=adapter)
    return SystemFacts(
        name=members["name"],
        version=members["version"],
        adapter_version=members["adapter_version"],
        output=members["output"],
        needs_network=members["needs_network"],
        gives_text=bool(_read(system, "gives_text", adapter)),  # unless it says otherwise
        needs_corpus=_read(system, "needs_corpus", adapter) is True,
        branches=_branches(system, adapter),
        config=_mapping(system, "public_config", adapter),
        ingestion=_mapping(system, "ingestion_config", adapter),
        config_files=_paths(system, adapter),
        source_files=_names(system, "source_files", adapter),
    )


def read_facts(plain: Mapping[str, Any], adapter: str) -> SystemFacts:
    """Facts that were sent as JSON, checked as those of a system are.

    Raises:
        UsageError: they are not what `facts_of` gives.
    """
    members = {name: value for name, value in plain.items() if name not in _CALLED.values()}
    for method, name in _CALLED.items():
        members[method] = partial(plain.get, name)
    members["index"] = members["open"] = lambda: None
    return facts_of(SimpleNamespace(**members), adapter)


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


def _read(system: object, member: str, adapter: str) -> Any:
    try:
        return getattr(system, member, _MISSING)
    except Exception as error:
        raise UsageError(f"`{member}` raised {told(error)}", where=adapter) from error


def _text(value: object, name: str, adapter: str) -> str:
    """A text of one line that can be printed, as an exact `str`."""
    if not isinstance(value, str) or not value:
        raise UsageError(f"{name} must be a text, not {_shown(value)}", where=adapter)
    if len(value) > _MAX_CHARS or not str.isprintable(value):
        what = f"{name} must be a line of at most {_MAX_CHARS} characters, not {_shown(value)}"
        raise UsageError(what, where=adapter)
    return str.__str__(value)


def _is_plain_name(name: str) -> bool:
    """Whether a text can name a system, its index folders and its rows."""
    return not name.startswith(".") and not set(name) & set("/\\")


def _names(system: object, member: str, adapter: str) -> tuple[str, ...]:
    named = _read(system, member, adapter)
    if named is _MISSING:
        return ()
    is_list = isinstance(named, Iterable) and not isinstance(named, str | Path)
    found = tuple(named) if is_list else (None,)
    if not all(isinstance(name, str | Path) for name in found):
        what = f"`{member}` must be a list of names, not {_shown(named)}"
        raise UsageError(what, where=adapter)
    return tuple(map(str, found))


def _branches(system: object, adapter: str) -> tuple[str, ...]:
    named = _names(system, "branches", adapter)
    return tuple(sorted({_text(name, "a name in `branches`", adapter) for name in named}))


def _called(system: object, member: str, adapter: str) -> Any:
    try:
        return getattr(system, member)()
    except EvalakeError:
        raise
    except Exception as error:
        raise UsageError(f"`{member}` raised {told(error)}", where=adapter) from error


def _mapping(system: object, member: str, adapter: str) -> Mapping[str, Any]:
    value = _called(system, member, adapter)
    with suppress(TypeError, ValueError, RecursionError):
        if isinstance(value, Mapping):
            encoded = canonical_json(dict(value)).encode()
            return json.loads(encoded)  # type: ignore[no-any-return]  # of a mapping
    what = f"`{member}` must return a mapping that JSON can hold, not {_shown(value)}"
    raise UsageError(what, where=adapter)


def _paths(system: object, adapter: str) -> Mapping[str, Path]:
    value = _called(system, "config_files", adapter)
    if not isinstance(value, Mapping) or not all(isinstance(p, str | Path) for p in value.values()):
        what = f"`config_files` must return names with their paths, not {_shown(value)}"
        raise UsageError(what, where=adapter)
    return {_text(name, "a name in `config_files`", adapter): Path(p) for name, p in value.items()}


def _shown(value: object) -> str:
    """The first characters of a value's `repr`, or its type's name where `repr` raises."""
    try:
        return reprlib.repr(value)
    except Exception:
        return f"a {type(value).__name__}"
