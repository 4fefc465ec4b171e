"""The JSON Lines schema of imported tasks, gold and rankings; docs/datasets.md shows it.

One object per line, unknown keys refused, lines counted from 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from evalake_ingest.originals.json_text import read_objects
from evalake_ingest.originals.problems import Problems
from evalake_ingest.originals.source_files import Source
from evalake_ingest.originals.value_rules import (
    Amount,
    Grade,
    Id,
    Label,
    LineNumber,
    Query,
    Score,
)
from evalake_warehouse.errors import UsageError
from evalake_warehouse.nearest import did_you_mean
from evalake_warehouse.shown import shown
from evalake_warehouse.vocabulary import AttemptStatus, GoldRole, Level


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class GoldLine(_Line):
    """One thing that counts as relevant. Its level follows from what names it, if not given.

    `doc_id` -> doc; `symbol` or `fingerprint` -> symbol; `path` with lines -> lines; `path`
    alone -> file. Several of them are alternative ways to recognise the same thing.
    """

    gold_id: Id | None = None
    level: Level | None = None
    grade: Grade = 1
    role: GoldRole = "primary"
    path: Id | None = None
    start_line: LineNumber | None = None
    end_line: LineNumber | None = None
    symbol: Id | None = Field(default=None, description="Qualified name, package path included.")
    fingerprint: Id | None = None
    doc_id: Id | None = None
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

    task_id: Id


class TaskLine(_Line):
    """One task, with its gold or with a separate gold file."""

    task_id: Id
    query: Query
    kind: Id = "question"
    query_variants: dict[Id, Query] = {}
    repo: Id | None = None
    library: Id | None = None
    qa_type: Id | None = None
    qa_subtype: Id | None = None
    stratum: Id | None = None
    labels: dict[Id, Label] = {}
    gold: list[GoldLine] = []


class DocumentLine(_Line):
    """One document of the corpus."""

    doc_id: Id
    text: str


class HitLine(_Line):
    """One retrieved item; its place in the list is its rank."""

    item_id: Id | None = None
    score: Score | None = None
    path: str | None = None
    start_line: LineNumber | None = None
    end_line: LineNumber | None = None
    qualified_name: str | None = None
    doc_id: Id | None = None
    title: str | None = None
    text: str | None = None


class AnswerLine(_Line):
    """What a system answered to one task."""

    task_id: Id
    hits: list[HitLine] = []
    status: AttemptStatus | None = None
    reason: str | None = None
    seconds: Amount | None = None
    cost_usd: Amount | None = None


AnyLine = TypeVar("AnyLine", bound=BaseModel)


def read_lines(file: Path, model: type[AnyLine]) -> list[tuple[int, AnyLine]]:
    """Every line of a file as (line number, record).

    Raises:
        DatasetError: with every line that does not fit.
    """
    problems = Problems()
    found = list(checked_lines(Source(file, problems), model, problems))
    problems.refuse()
    return found


def checked_lines(
    source: Source, model: type[AnyLine], problems: Problems, *,
    names: Mapping[str, str] | None = None, scale: int = 1,
) -> Iterator[tuple[int, AnyLine]]:  # fmt: skip
    """Like `read_lines`, one line at a time; those that do not fit are told, and left out.

    Args:
        names: the file's own name of a key, by the name that it has here.
        scale: grades are multiplied by it.
    """
    for number, row in read_objects(source, problems):
        for ours, theirs in (names or {}).items():
            if theirs in row and ours not in row and ours in model.model_fields:
                row[ours] = row.pop(theirs)
        try:
            yield number, model.model_validate(row, context=scale)
        except ValidationError as error:
            for detail in error.errors():
                problems.add(source.place(number), _told(detail, model))


def _told(detail: ErrorDetails, model: type[BaseModel]) -> str:
    what = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "extra_forbidden":
        known = {*model.model_fields, *GoldLine.model_fields, *HitLine.model_fields}
        what = f"unknown key{did_you_mean(str(detail['loc'][-1]), sorted(known))}"
    where = shown(".".join(map(str, detail["loc"])))
    return f"`{where}`: {what}" if where else what


def read_names(told: str | None) -> dict[str, str]:
    """`task_id=qid,query=question`: the file's own name of a key, by the name that it has here.

    Raises:
        UsageError: it is written otherwise, or names a key that no line has.
    """
    names: dict[str, str] = {}
    known = {
        *TaskLine.model_fields, *TaskGoldLine.model_fields, *AnswerLine.model_fields,
        *DocumentLine.model_fields,
    }  # fmt: skip
    for pair in told.split(",") if told else []:
        ours, equals, theirs = (part.strip() for part in pair.partition("="))
        if not ours or not equals or not theirs:
            raise UsageError(f"{pair!r}: write ours=theirs, such as task_id=qid", where="--map")
        if ours not in known:
            raise UsageError(f"no key `{ours}`{did_you_mean(ours, sorted(known))}", where="--map")
        names[ours] = theirs
    return names
