"""JSON as imports read it: no key twice, no half characters, limits on depth and digits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from shlex import quote
from typing import Any

from evalake_ingest.originals.formats import refuse_another_form
from evalake_ingest.originals.problems import Problems
from evalake_ingest.originals.source_files import Source
from evalake_ingest.originals.value_rules import BadValueError, lone_surrogate

_MAX_DIGITS = 40  # of a whole number: more than any id or grade has, and cheap to read
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_objects(source: Source, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and content of every line of a JSON Lines file; lines that are no object are told."""
    for number, line in source.lines():
        where = source.place(number)
        if number == 1 and (what := _another_layout(line)):
            command = "'.[]'" if line.lstrip().startswith("[") else "."
            hint = f"jq -c {command} {quote(str(source.file))} > {quote(f'{source.file}.jsonl')}"
            problems.add(where, what, hint=hint)
            return
        if number == 1 and refuse_another_form(source, problems, where, line, "jsonl"):
            return
        try:
            row = parse(line)
        except BadValueError as error:
            problems.add(where, str(error))
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            problems.add(where, "not a JSON object")


def parse(text: str) -> Any:
    """One JSON value. `NaN` and `Infinity` come as floats: the rule of their field refuses them.

    Raises:
        BadValueError: with what is wrong.
    """
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise BadValueError(f"not JSON: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise BadValueError("nested too deep") from error
    if _ESCAPED_SURROGATE.search(text) and (place := lone_surrogate(value)) is not None:
        raise BadValueError(f"`{place}`: half a surrogate pair, which is no character")
    return value


def _another_layout(first: str) -> str | None:
    start = first.strip()
    if start.startswith("["):
        return "this is one JSON array; write one object a line"
    return "this is JSON over several lines; write one object a line" if start == "{" else None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise BadValueError(f"key {key!r} stands twice in one object")
            seen.add(key)
    return found


def _whole(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise BadValueError(f"a number of {len(digits)} digits")
    return int(digits)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_whole)
