"""What a tool's configuration may say, whichever way the tool is reached."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from evalake_runners.adapters.setup import Strict
from evalake_runners.adapters.tools.query_forms import QueryForm
from evalake_runners.adapters.tools.templates import FIELDS, OF_PLACE, unknown_fields

# Fields of a hit that an answer may fill; `path` is made corpus-relative.
HitField = Literal[
    "path", "start_line", "end_line", "score", "qualified_name", "doc_id", "title", "text",
    "reason", "branch",
]  # fmt: skip
HIT_FIELDS: tuple[str, ...] = (
    "path", "start_line", "end_line", "score", "qualified_name", "doc_id", "title", "text",
    "reason", "branch",
)  # fmt: skip


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return text


def _fields_of_call(value: Any) -> Any:
    return _known(value, frozenset(FIELDS))


def _fields_of_place(value: Any) -> Any:
    return _known(value, OF_PLACE)


def _known(value: Any, known: frozenset[str]) -> Any:
    if unknown := unknown_fields(value, known):
        shown = ", ".join(f"`{{{name}}}`" for name in unknown)
        names = ", ".join(f"{{{name}}}" for name in FIELDS if name in known)
        raise ValueError(f"unknown field {shown}; known: {names}; {{{{name}}}} for braces as such")
    return value


Pattern = Annotated[str, AfterValidator(_pattern)]
CallText = Annotated[str, AfterValidator(_fields_of_call)]
PlaceText = Annotated[str, AfterValidator(_fields_of_place)]
CallArguments = Annotated[dict[str, Any], AfterValidator(_fields_of_call)]
Argv = Annotated[list[PlaceText], Field(min_length=1)]


class Parser(Strict):
    """How hits are read out of an answer."""

    source: Literal["structured", "json", "jsonl", "regex"] = Field(
        default="json",
        description="structured: an MCP tool's structured content; json: JSON in the text; jsonl: "
        "one object a line; regex: named groups in the text.",
    )
    rows: str = Field(
        default="",
        description="Where the list of hits is: results, data.items, files.*.matches (`*`: each).",
    )
    where: dict[str, str | int | bool] = Field(
        default_factory=dict, description="Only rows with these values, by path in the row."
    )
    fields: dict[HitField, str] = Field(
        default_factory=dict,
        description="Field of a hit -> path in a row (^name: around the row; @key; `.`: the row "
        "itself).  [default: fields of their own names]",
    )
    regex: Pattern | None = Field(
        default=None, description="For source regex: (?P<path>...), (?P<start_line>...), ..."
    )
    line_base: Literal[0, 1] = Field(default=1, description="Number of a file's first line.")
    path_root: PlaceText | None = Field(
        default=None, description="Beginning of paths that is taken off, as /workspace/."
    )

    @model_validator(mode="after")
    def _fits(self) -> Parser:
        if (self.source == "regex") != (self.regex is not None):
            raise ValueError("`regex` and `source: regex` go together")
        if self.regex is not None:
            groups = re.compile(self.regex).groupindex
            if unknown := [name for name in groups if name not in HIT_FIELDS]:
                raise ValueError(f"`regex`: no field of a hit is called {', '.join(unknown)}; "
                                 f"known: {', '.join(HIT_FIELDS)}")  # fmt: skip
            if not groups:
                raise ValueError("`regex` has no named group, such as (?P<path>...)")
            if self.rows or self.fields or self.where:
                raise ValueError("`rows`, `where` and `fields` have no meaning for a regex")
        return self


class CommandStep(Strict):
    """A command of set-up."""

    command: Argv


class ToolConfig(Strict):
    """Keys that every kind of tool has, besides those that say how it is called."""

    version: str | None = Field(
        default=None, description="Of the tool.  [default: what version_command says, or unknown]"
    )
    version_command: list[str] | None = Field(
        default=None, min_length=1, description="Prints the version; its first line counts."
    )
    parser: Parser = Parser()
    output: Literal["ranked", "blob"] = Field(
        default="ranked", description="blob: the answer's text is one hit; needs depth 1."
    )
    query_form: QueryForm = Field(
        default="raw", description="raw, keywords or identifiers: what of a question is asked."
    )
    error_patterns: list[Pattern] = Field(
        default_factory=list, description="An answer with one of these is an error told in prose."
    )
    empty_patterns: list[Pattern] = Field(
        default_factory=list, description="An answer with one of these says that nothing was found."
    )
    not_attempted: dict[str, str] = Field(
        default_factory=dict,
        description="Kind of task that the tool does not claim to answer -> what its docs say.",
    )
    index: list[CommandStep] = Field(
        default_factory=list, description="Commands run once per corpus, before it is searched."
    )
    corpus_copy: bool = Field(
        default=False, description="Search an own copy of the corpus: the tool writes into it."
    )
    env: dict[str, PlaceText] = Field(
        default_factory=dict, description="Environment; ${NAME} takes a variable of this one."
    )
    network: bool = Field(default=False, description="Whether the tool may use the network.")
