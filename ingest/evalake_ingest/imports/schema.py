"""The JSON Lines schema of imported tasks, gold and rankings; docs/datasets.md shows it.

One object per line, unknown keys refused, lines counted from 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from evalake_ingest.imports.problems import refuse_all
from evalake_ingest.records import Level, Role
from evalake_warehouse.errors import DatasetError, Problem


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class GoldLine(_Line):
    """One thing that counts as relevant. Its level follows from what names it, if not given.

    `doc_id` -> doc; `symbol` or `fingerprint` -> symbol; `path` with lines -> lines; `path`
    alone -> file. Several of them are alternative ways to recognise the same thing.
    """

    gold_id: str | None = None
    level: Level | None = None
    grade: int = 1
    role: Role = "primary"
    path: str | None = None
    start_line: int | None = Field(default=None, ge=1)
    end_line: int | None = Field(default=None, ge=1)
    symbol: str | None = Field(default=None, description="Qualified name, package path included.")
    fingerprint: str | None = None
    doc_id: str | None = None
    text: str | None = None
    truth_method: str = "imported"
    evidence: str | None = None

    @field_validator("path")
    @classmethod
    def _in_plain_parts(cls, path: str | None) -> str | None:
        """`./pkg//x.py` as `pkg/x.py`, as corpora spell it; `..` stays, and is in no corpus."""
        if path is None:
            return None
        root = "/" if path.startswith("/") else ""
        return root + "/".join(part for part in path.split("/") if part not in {"", "."}) or path

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not any((self.path, self.symbol, self.fingerprint, self.doc_id, self.text)):
            raise ValueError("names nothing: give path, symbol, fingerprint, doc_id or text")
        if (self.start_line is None) != (self.end_line is None):
            raise ValueError("start_line and end_line belong together")
        if self.start_line and self.end_line and self.end_line < self.start_line:
            raise ValueError("end_line is before start_line")
        if self.start_line and not self.path:
            raise ValueError("lines need a path")
        return self


class TaskGoldLine(GoldLine):
    """One gold item in a file of its own."""

    task_id: str


class TaskLine(_Line):
    """One task, with its gold or with a separate gold file."""

    task_id: str = Field(min_length=1)
    query: str = Field(min_length=1)
    kind: str = "question"
    query_variants: dict[str, str] = {}
    repo: str | None = None
    library: str | None = None
    qa_type: str | None = None
    qa_subtype: str | None = None
    stratum: str | None = None
    labels: dict[str, str] = {}
    gold: list[GoldLine] = []


class DocumentLine(_Line):
    """One document of the corpus."""

    doc_id: str = Field(min_length=1)
    text: str


class HitLine(_Line):
    """One retrieved item; its place in the list is its rank."""

    item_id: str | None = None
    score: float | None = None
    path: str | None = None
    start_line: int | None = Field(default=None, ge=1)
    end_line: int | None = Field(default=None, ge=1)
    qualified_name: str | None = None
    doc_id: str | None = None
    title: str | None = None
    text: str | None = None


class AnswerLine(_Line):
    """What a system answered to one task."""

    task_id: str
    hits: list[HitLine] = []
    status: Literal["ok", "empty", "error", "timeout", "not_attempted"] | None = None
    reason: str | None = None
    seconds: float | None = Field(default=None, ge=0)
    cost_usd: float | None = Field(default=None, ge=0)


AnyLine = TypeVar("AnyLine", bound=BaseModel)


def read_lines(file: Path, model: type[AnyLine]) -> list[tuple[int, AnyLine]]:
    """Every line of a file as (line number, record).

    Raises:
        DatasetError: with every line that does not fit.
    """
    return list(iterate_lines(file, model))


def iterate_lines(file: Path, model: type[AnyLine]) -> Iterator[tuple[int, AnyLine]]:
    """Like `read_lines`, one line at a time; bad ones are told when the file is read."""
    problems: list[Problem] = []
    for number, line in _raw_lines(file):
        where = f"{file}:{number}"
        try:
            # Parsed here first, for one message per mistake and a column where it breaks.
            json.loads(line)
            yield number, model.model_validate_json(line)
        except json.JSONDecodeError as error:
            problems.append(Problem(where, f"not JSON: {error.msg} at column {error.colno}"))
        except ValidationError as error:
            problems += [Problem(where, _told(detail, model)) for detail in error.errors()]
    refuse_all(problems, str(file))


def _told(detail: ErrorDetails, model: type[BaseModel]) -> str:
    what = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        known = {*model.model_fields, *GoldLine.model_fields, *HitLine.model_fields}
        near = get_close_matches(str(detail["loc"][-1]), sorted(known), n=1)
        what = f"unknown key; did you mean `{near[0]}`?" if near else "unknown key"
    where = ".".join(map(str, detail["loc"]))
    return f"`{where}`: {what}" if where else what


def _raw_lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        with file.open(encoding="utf-8-sig") as opened:
            for number, line in enumerate(opened, start=1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DatasetError(f"not UTF-8: {error.reason}", where=str(file)) from error
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror}", where=str(file)) from error
