"""A plain function of the user's own as a system: `query -> hits`, nothing else to write."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalake_runners.adapters.protocol import (
    Answer,
    CorpusView,
    IndexReport,
    Query,
    RawHit,
    UnreadAnswerError,
)
from evalake_runners.adapters.setup import Adapter, Setup
from evalake_runners.configuration.strict import Strict
from evalake_warehouse.errors import UsageError
from evalake_warehouse.nearest import did_you_mean

# What a function may take after the question, by the names of its parameters.
_OFFERED = ("corpus", "depth", "library")
# What a hit may have, by the name in its dictionary.
_FIELDS = {
    "path": "raw_path", "start_line": "start_line", "end_line": "end_line", "doc_id": "doc_id",
    "qualified_name": "qualified_name", "text": "text", "title": "title", "score": "score",
    "branch": "branch",
}  # fmt: skip

Function = Callable[..., Any]


class FunctionConfig(Strict):
    """A function has no configuration of its own."""


def function_adapter(name: str, function: object, *, version: str) -> Adapter:
    """The adapter of a function.

    Args:
        name: `module.function`, which the system is called.
        version: of the function's module.

    Raises:
        UsageError: it is no function of a question, or wants what is not offered.
    """
    if not callable(function):
        raise UsageError(f"`{name}` is no function", where=name)
    try:
        first, *others = inspect.signature(function).parameters.values()
    except ValueError as error:
        raise UsageError("the function must take the question", where=name) from error
    del first
    wanted = [one.name for one in others if one.default is one.empty or one.name in _OFFERED]
    for parameter in wanted:
        if parameter not in _OFFERED:
            raise UsageError(
                f"the function wants `{parameter}`; after the question it can have "
                f"{', '.join(f'`{offered}`' for offered in _OFFERED)}",
                where=name,
            )
    doc = (inspect.getdoc(function) or name).partition("\n")[0]

    def make(_config: FunctionConfig, _setup: Setup) -> FunctionSystem:
        return FunctionSystem(name, version, function, tuple(wanted))

    return Adapter(name, doc, FunctionConfig, make)


@dataclass
class FunctionSystem:
    """One function; it has no index, and is asked from where its corpus is."""

    name: str
    version: str
    function: Function
    wanted: tuple[str, ...]
    adapter_version: str = "1"
    output: str = "ranked"
    needs_network: bool = False

    def public_config(self) -> Mapping[str, Any]:
        """Nothing: the function's source is its identity."""
        return {}

    def config_files(self) -> Mapping[str, Path]:
        """None."""
        return {}

    def ingestion_config(self) -> Mapping[str, Any]:
        """Nothing: there is no index."""
        return {}

    def index(self, corpus: CorpusView, index_dir: Path) -> IndexReport:  # noqa: ARG002
        """Nothing to build."""
        return IndexReport()

    def open(self, corpus: CorpusView, index_dir: Path) -> FunctionSearcher:  # noqa: ARG002
        """The function over one corpus."""
        return FunctionSearcher(self.function, self.wanted, corpus)


@dataclass(frozen=True)
class FunctionSearcher:
    """Calls the function, and reads the hits it returns."""

    function: Function
    wanted: tuple[str, ...]
    corpus: CorpusView

    def search(self, query: Query) -> Answer:
        """The function's hits, best first, cut at the depth.

        Raises:
            UnreadAnswerError: what it returned is no list of hits.
        """
        offered = {
            "corpus": self.corpus.root, "depth": query.depth, "library": query.library,
        }  # fmt: skip
        found = self.function(query.text, **{name: offered[name] for name in self.wanted})
        if isinstance(found, str | Mapping) or not isinstance(found, Sequence):
            raise UnreadAnswerError(
                f"the function returned {type(found).__name__}; a list of hits is wanted"
            )
        return Answer(hits=[_hit(item) for item in found[: query.depth]])

    def close(self) -> None:
        """Nothing to end."""


def _hit(item: object) -> RawHit:
    """A path as text, or a dictionary of `_FIELDS`, as a hit."""
    if isinstance(item, str | Path):
        return RawHit(raw_path=str(item))
    if not isinstance(item, Mapping):
        raise UnreadAnswerError(
            f"a hit is {type(item).__name__}; it must be a path or a dictionary"
        )
    for key in item:
        if key not in _FIELDS:
            what = f"a hit has `{key}`{did_you_mean(str(key), list(_FIELDS))}"
            raise UnreadAnswerError(what)
    return RawHit(**{_FIELDS[key]: value for key, value in item.items()})
