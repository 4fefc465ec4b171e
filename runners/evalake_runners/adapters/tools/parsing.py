"""Read hits out of a raw answer, or say why there are none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from evalake_runners.adapters.protocol import RawHit, UnreadAnswerError
from evalake_runners.adapters.tools.config import HIT_FIELDS, Parser, ToolConfig
from evalake_runners.adapters.tools.paths_in_json import NotFoundError, Row, rows_at, value_in
from evalake_runners.adapters.tools.raw_answers import RawAnswer, canonical
from evalake_runners.adapters.tools.templates import fill

_JSON_BEGINS = re.compile(r"[\[{]")
_SHOWN_CHARS = 120
_NUMBERS = ("start_line", "end_line", "score")
_Found = tuple[list[RawHit], str | None]


def read_answer(raw: RawAnswer, config: ToolConfig, *, empty_codes: Sequence[int] = ()) -> _Found:
    """The hits of an answer, best first, and why there are none.

    Patterns come first: a tool may tell an error in prose, and call it a success. Text in which
    the parser finds nothing is an error, never an empty list, unless a pattern or a code says so.

    Raises:
        UnreadAnswerError: the answer is an error, or not what the parser was told.
    """
    searched = raw.text or (canonical(raw.structured) if raw.structured is not None else "")
    if said := _first(config.error_patterns, searched):
        raise UnreadAnswerError(f"the tool says: {said}")
    if said := _first(config.empty_patterns, searched):
        return [], f"the tool says: {said}"
    if raw.code is not None and raw.code in empty_codes:
        return [], f"the tool ended with {raw.code}: nothing found"
    if raw.failure is not None:
        told = f": {_short(raw.text)}" if raw.text.strip() else ""
        raise UnreadAnswerError(f"{raw.failure}{told}")
    if config.output == "blob":
        text = searched.strip()
        return ([RawHit(item_id="answer", text=searched)], None) if text else ([], "no text")
    hits = list(_hits(raw, config.parser))
    return hits, None if hits else "the list of hits is empty"


def _hits(raw: RawAnswer, parser: Parser) -> Iterator[RawHit]:
    root = None
    if parser.path_root is not None:
        root = str(fill(parser.path_root, {"corpus": raw.root or "", "index": ""}))
    for fields in _rows(raw, parser):
        yield as_hit(fields, line_base=parser.line_base, roots=[root, raw.root])


def _rows(raw: RawAnswer, parser: Parser) -> Iterator[Mapping[str, Any]]:
    if parser.source == "regex":
        yield from _matches(raw.text, parser.regex or "")
        return
    document = _document(raw, parser)
    try:
        rows = rows_at(document, parser.rows)
    except NotFoundError as error:
        raise UnreadAnswerError(f"`parser.rows` `{parser.rows}`: {error}") from error
    for at in parser.where:
        if rows and all(value_in(row, at) is None for row in rows):
            raise UnreadAnswerError(f"`parser.where`: none of {len(rows)} rows has a `{at}`")
    for row in rows:
        if any(value_in(row, at) != wanted for at, wanted in parser.where.items()):
            continue
        fields = _fields(row, parser)
        if all(value is None for value in fields.values()):
            wanted = ", ".join(parser.fields.values()) or ", ".join(HIT_FIELDS)
            raise UnreadAnswerError(f"a row has none of {wanted}: {_short(canonical(row.value))}")
        yield fields


def _fields(row: Row, parser: Parser) -> Mapping[str, Any]:
    if parser.fields:
        return {name: value_in(row, path) for name, path in parser.fields.items()}
    if isinstance(row.value, str):
        return {"path": row.value}
    return {name: value_in(row, name) for name in HIT_FIELDS}


def _matches(text: str, pattern: str) -> Iterator[Mapping[str, Any]]:
    found = list(re.finditer(pattern, text, re.MULTILINE))
    if text.strip() and not found:
        raise UnreadAnswerError(
            f"`parser.regex` matches nothing in: {_short(text)}; "
            "`empty_patterns` says how the tool tells that it found nothing"
        )
    for match in found:
        yield match.groupdict()


def _document(raw: RawAnswer, parser: Parser) -> Any:
    if parser.source == "structured":
        if raw.structured is None:
            what = "the answer has no structured content; `source: json` reads its text"
            raise UnreadAnswerError(what)
        return raw.structured
    if parser.source == "jsonl":
        return [_object(line, n) for n, line in enumerate(raw.text.split("\n"), 1) if line.strip()]
    return _json(raw.texts)


def _json(texts: Sequence[str]) -> Any:
    """JSON of a text, prose around it or not; of several blocks, the list of what they hold."""
    written = [text for text in texts if text.strip()]
    if not written:
        return []
    documents = [_json_in(text) for text in written]
    return documents[0] if len(documents) == 1 else documents


def _json_in(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    decoder = json.JSONDecoder()
    for begin in _JSON_BEGINS.finditer(text):
        try:
            found, _ = decoder.raw_decode(text, begin.start())
        except (ValueError, RecursionError):
            continue
        if found:
            return found
    raise UnreadAnswerError(f"there is no JSON in the answer: {_short(text)}")


def _object(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UnreadAnswerError(f"line {number} is no JSON: {_short(line)}") from error


def as_hit(
    fields: Mapping[str, Any], *, line_base: int = 1, roots: Sequence[str | None] = ()
) -> RawHit:
    """A hit of the values found for its fields.

    Raises:
        UnreadAnswerError: a value has another type than its field.
    """
    values = {name: _value(name, value) for name, value in fields.items()}
    path = values.pop("path", None)
    for name in ("start_line", "end_line"):
        if values.get(name) is not None:
            values[name] = int(values[name]) + 1 - line_base
    return RawHit(raw_path=None if path is None else _below(str(path), roots), **values)


def _value(name: str, value: Any) -> Any:
    if value is None or value == "":
        return None
    if name in _NUMBERS:
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            told = _short(str(value))
            raise UnreadAnswerError(f"`{name}` of a hit is no number: {told}") from error
    if isinstance(value, str | int | float):
        return str(value)
    raise UnreadAnswerError(f"`{name}` of a hit is a {type(value).__name__}, not a text")


def _below(path: str, roots: Sequence[str | None]) -> str:
    """A path without the folder that it begins with; a root without a final slash ends a part."""
    path = path.removeprefix("file://")
    for root in roots:
        if root and path.startswith(root):
            rest = path[len(root) :]
            if root.endswith(("/", "\\")) or rest.startswith(("/", "\\")):
                return str(PurePosixPath(rest.lstrip("/\\").replace("\\", "/"))) if rest else path
    return path


def _first(patterns: Sequence[str], text: str) -> str | None:
    """The line in which the first pattern matches."""
    for pattern in patterns:
        if match := re.search(pattern, text, re.MULTILINE):
            start = text.rfind("\n", 0, match.start()) + 1
            end = text.find("\n", match.end())
            return _short(text[start : end if end >= 0 else None])
    return None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + "…"
