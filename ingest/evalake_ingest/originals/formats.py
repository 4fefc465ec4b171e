"""Which importer a file is for, by how it begins: a file given to another one is told as that."""

from __future__ import annotations

import json
import re
from typing import Literal

from evalake_ingest.originals.problems import Problems
from evalake_ingest.originals.source_files import Source

Importer = Literal["json", "jsonl", "trec"]

_NAMES: dict[Importer, str] = {
    "json": "JSON of the form {query: {document: number}}",
    "jsonl": "JSON Lines",
    "trec": "a TREC file",
}
_KEY = r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*'
_NUMBER = r"-?[0-9][0-9.eE+-]*"
_BEGINS: dict[Importer, re.Pattern[str]] = {
    # A pretty-printed object begins with its brace alone.
    "json": re.compile(rf"\s*\{{\s*$|{_KEY}(?:\{{|$)"),
    "jsonl": re.compile(rf'{_KEY}"'),
    # `topic iteration doc grade`, or `topic Q0 doc rank score` with or without a tag.
    "trec": re.compile(rf"\s*[^\s{{\[]\S*\s+\S+\s+\S+\s+{_NUMBER}(?:\s+{_NUMBER}(?:\s.*)?)?\s*$"),
}


def importer_of(first_line: str) -> Importer | None:
    """The importer that reads a file which begins so; None where that does not tell."""
    return next((name for name, begins in _BEGINS.items() if begins.match(first_line)), None)


def refuse_another_form(
    source: Source, problems: Problems, place: str, first_line: str, own: Importer
) -> bool:
    """Note that a file is for another importer, with its name; False where it is not.

    Args:
        first_line: the first one that is not blank.
        own: the importer that the file was given to.
    """
    fits = importer_of(first_line)
    if fits is None or fits == own:
        return False
    if own == "jsonl" and fits == "json" and not _holds_objects(first_line):
        return False  # one object of a JSON Lines file, whose first key has an object
    source.is_readable = False
    problems.add(place, f"this is {_NAMES[fits]}", hint=f"evalake import {fits} --help")
    return True


def _holds_objects(line: str) -> bool:
    """Whether a line is an object of objects, or the beginning of one."""
    try:
        found = json.loads(line)
    except ValueError:
        return True
    except RecursionError:
        return False
    return isinstance(found, dict) and all(isinstance(value, dict) for value in found.values())
