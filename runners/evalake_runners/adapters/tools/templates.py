"""Fill what a tool is called with: `{query}` and the like in texts, lists and mappings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

FIELDS: Mapping[str, str] = {
    "query": "the question in the arm's query form",
    "pattern": "the words of the query form as a regular expression: first|second",
    "depth": "hits asked for; a number where it stands alone",
    "library": "the library a task is about; empty where it names none",
    "corpus": "folder with the corpus",
    "index": "folder that set-up may write into, kept with the index",
}
OF_PLACE = frozenset({"corpus", "index"})  # known before there is a question

# `{{name}}` is `{name}` as it stands, and `${NAME}` an environment variable, not a field.
_FIELD = re.compile(r"\{\{\w+\}\}|(?<!\$)\{(\w+)\}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}")


def unknown_fields(value: Any, known: Mapping[str, str] | frozenset[str] = FIELDS) -> list[str]:
    """Names in braces that are no field, in order; `{{name}}` stands for braces as they are."""
    names = (match[1] for text in _texts(value) for match in _FIELD.finditer(text))
    return list(dict.fromkeys(name for name in names if name is not None and name not in known))


def fill(value: Any, fields: Mapping[str, str | int]) -> Any:
    """A copy of `value` with every field filled, inside mappings and lists too."""
    if isinstance(value, str):
        alone = _FIELD.fullmatch(value)
        if alone and alone[1] in fields:
            return fields[alone[1]]
        return _FIELD.sub(lambda match: _one(match, fields), value)
    if isinstance(value, Mapping):
        return {key: fill(item, fields) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [fill(item, fields) for item in value]
    return value


def variables(value: Any) -> list[str]:
    """Names of the environment variables that `${NAME}` stands for."""
    names = (match[1] for text in _texts(value) for match in _VARIABLE.finditer(text))
    return list(dict.fromkeys(names))


def with_variables(text: str) -> str:
    """A text with its environment variables in place; those that are not set become empty."""
    return _VARIABLE.sub(lambda match: os.environ.get(match[1], ""), text)


def _one(match: re.Match[str], fields: Mapping[str, str | int]) -> str:
    if match[1] is None:
        return match[0][1:-1]
    return str(fields[match[1]]) if match[1] in fields else match[0]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
