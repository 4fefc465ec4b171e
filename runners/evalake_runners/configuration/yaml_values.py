"""Keep a YAML file within bounds, and its values to what a configuration can record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evalake_warehouse.errors import ConfigError, Problem

MAX_DEPTH = 40
MAX_VALUES = 20_000  # an alias counts as often as it is used

_TOO_MANY = f"more than {MAX_VALUES:,} values, so no configuration"

Loc = tuple[str | int, ...]


def check_bounds(shown: str, text: str) -> None:
    """Refuse text that is no YAML, or nested or long beyond any configuration; cheap.

    Args:
        shown: the file, as the user named it.

    Raises:
        ConfigError: with the line.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    try:
        for number, event in enumerate(yaml.parse(text, Loader=loader)):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MAX_DEPTH or number > MAX_VALUES:
                bound = f"nested deeper than {MAX_DEPTH} levels" if depth > MAX_DEPTH else _TOO_MANY
                line = event.start_mark.line + 1 if event.start_mark else 1
                raise ConfigError([Problem(f"{shown}:{line}", bound)])
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{shown}:{mark.line + 1}" if mark else shown
        raise ConfigError([Problem(where, f"not YAML: {error.problem}")]) from None
    except yaml.YAMLError as error:
        raise ConfigError([Problem(shown, f"not YAML: {str(error).splitlines()[0]}")]) from None


class PlainValues:
    """A parsed file as plain dicts, lists and scalars, and what of it cannot be recorded."""

    def __init__(self, node: Any) -> None:
        self.problems: list[tuple[Loc, str]] = []
        self._n_left = MAX_VALUES
        self.content = self._plain(node, ())

    def _plain(self, node: Any, at: Loc) -> Any:
        self._n_left -= 1
        if self._n_left < 0 or len(at) > MAX_DEPTH:
            if self._n_left > -MAX_VALUES:  # told once
                self.problems.append((at[:1], "its aliases make it longer or deeper than allowed"))
            self._n_left = -MAX_VALUES
            return None
        if isinstance(node, Mapping):
            return self._mapping(node, at)
        if isinstance(node, Sequence) and not isinstance(node, str | bytes):
            return [self._plain(value, (*at, number)) for number, value in enumerate(node)]
        return self._scalar(node, at)

    def _mapping(self, node: Mapping[Any, Any], at: Loc) -> dict[str, Any]:
        plain = {}
        for key, value in node.items():
            if not isinstance(key, str):
                self.problems.append((at, f"the key {key!r} is no text; write it in quotes"))
                continue
            if wrong := _wrong_text(key):
                self.problems.append((at, f"the key {key!a} {wrong}"))
                continue
            plain[str(key)] = self._plain(value, (*at, key))
        return plain

    def _scalar(self, node: Any, at: Loc) -> Any:
        if isinstance(node, float) and not math.isfinite(node):
            self.problems.append((at, f"{float(node)} is no finite number"))
        elif isinstance(node, str) and (wrong := _wrong_text(node)):
            self.problems.append((at, wrong))
        else:
            for kind in (bool, int, float, str):  # ruamel subclasses them to keep their spelling
                if isinstance(node, kind):
                    return kind(node)
            if node is not None:
                self.problems.append((at, _NAMES.get(type(node).__name__, _TAGGED)))
        return None


_TAGGED = "a value of a kind that no configuration has; write it in quotes"
_NAMES = {
    "date": "a date; write it in quotes",
    "datetime": "a time; write it in quotes",
    "TimeStamp": "a time; write it in quotes",
}


def _wrong_text(text: str) -> str | None:
    if "\0" in text:
        return "has a NUL character"
    if not text.isascii() and text != text.encode("utf-8", "replace").decode():
        return "is not valid Unicode"
    return None
