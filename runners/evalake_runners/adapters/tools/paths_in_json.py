"""Find values inside parsed JSON by a dotted path: `results`, `data.items`, `files.*.matches.*`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

EACH = "*"
_MISSING = object()


class NotFoundError(Exception):
    """Nothing is at the path; the text says what is there instead."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row, with the values that it lies in, innermost first."""

    value: Any
    key: Any = None  # under which a mapping holds it
    above: tuple[Any, ...] = ()


def rows_at(document: Any, path: str) -> list[Row]:
    """The rows that a path leads to; a list at its end is taken apart.

    Raises:
        NotFoundError: a key of the path is not there.
    """
    found = [Row(document)]
    for part in filter(None, path.split(".")):
        found = [inner for row in found for inner in _step(row, part)]
    rows: list[Row] = []
    for row in found:
        if isinstance(row.value, list):
            rows += [Row(item, number, (row.value, *row.above)) for number, item in
                     enumerate(row.value)]  # fmt: skip
        elif row.value is not None:
            rows.append(row)
    return rows


def value_in(row: Row, path: str) -> Any:
    """A value of a row; None where it is not there.

    `@key` is the key that the row stands under, `^name` a value of what the row lies in, and `.`
    the row itself.
    """
    if path == "@key":
        return row.key
    if path == ".":
        return row.value
    if path.startswith("^"):
        for above in row.above:
            if (found := _get(above, path[1:])) is not _MISSING:
                return found
        return None
    found = _get(row.value, path)
    return None if found is _MISSING else found


def _get(value: Any, path: str) -> Any:
    for part in path.split("."):
        if isinstance(value, list) and part.lstrip("-").isdigit():
            position = int(part)
            if not -len(value) <= position < len(value):
                return _MISSING
            value = value[position]
        elif isinstance(value, Mapping) and part in value:
            value = value[part]
        else:
            return _MISSING
    return value


def _step(row: Row, part: str) -> Iterator[Row]:
    value, above = row.value, (row.value, *row.above)
    if part == EACH:
        items: Any = value.items() if isinstance(value, Mapping) else None
        if items is None and isinstance(value, list):
            items = enumerate(value)
        if items is None:
            raise NotFoundError(f"`*` wants a list or a mapping, not {_kind(value)}")
        yield from (Row(item, key, above) for key, item in items)
        return
    found = _get(value, part)
    if found is _MISSING:
        raise NotFoundError(f"there is no `{part}` in {_kind(value)}")
    yield Row(found, part, above)


def _kind(value: Any) -> str:
    if isinstance(value, Mapping):
        keys = ", ".join(f"`{key}`" for key in list(value)[:12])
        return f"a mapping of {keys}" if keys else "an empty mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "null" if value is None else f"the {type(value).__name__} {str(value)[:40]!r}"
