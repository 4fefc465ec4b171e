"""What a system under test must do: index a corpus, answer queries.

The engine calls `index` once per (corpus content, ingestion) and keeps the folder; `open` in
each worker process; `search` once per task. An adapter raises to report a failure, and never
catches an error to return an empty list: empty means that the system answered with nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class CorpusView:
    """A corpus on disk, read-only for adapters.

    `root` holds the files of a `files` corpus at their paths. A `documents` corpus has
    `documents.parquet` (doc_id, text) there instead.
    """

    corpus_id: str
    kind: str  # files | documents
    root: Path
    paths: tuple[str, ...]  # corpus-relative POSIX paths, sorted; doc ids for documents


@dataclass(frozen=True, slots=True)
class Query:
    """One task as a system may see it: never its gold."""

    task_id: str
    text: str
    depth: int  # hits asked for
    seed: int  # the task's own number, for systems that draw at random
    library: str | None = None
    kind: str | None = None  # as the dataset calls tasks of this sort


@dataclass(slots=True)
class RawHit:
    """One answer as the system gave it, best first; the engine numbers ranks from 1."""

    item_id: str | None = None  # None: built from path and lines, or the qualified name
    score: float | None = None  # the system's own scale
    raw_path: str | None = None  # exactly as answered; the engine makes it corpus-relative
    start_line: int | None = None  # from 1, inclusive
    end_line: int | None = None
    qualified_name: str | None = None
    doc_id: str | None = None
    title: str | None = None
    text: str | None = None
    reason: str | None = None
    branch: str | None = None  # bm25, dense, graph, ...; bm25+dense where both found it


@dataclass(slots=True)
class Answer:
    """The result of one search."""

    hits: Sequence[RawHit]
    payload: str | None = None  # raw answer where it is more than the hits; the lake keeps it
    n_bytes: int | None = None  # that a reader takes in, where the payload has more than that
    reason: str | None = None  # why there is no hit
    call: str | None = None  # the command or tool call, without secrets
    resolved_library: str | None = None
    n_tool_calls: int | None = None
    cost_usd: float | None = None
    covered: bool | None = None  # a router's own signal, where there is no list
    phase_seconds: Mapping[str, float] = field(default_factory=dict)  # besides the whole search


@dataclass(frozen=True, slots=True)
class Spending:
    """What one search has taken so far, whether or not it ends in an answer."""

    n_tool_calls: int | None = None
    cost_usd: float | None = None
    phase_seconds: Mapping[str, float] = field(default_factory=dict)


class NotAttemptedError(Exception):
    """The system does not claim to answer this kind of task; the text quotes its own docs."""


class UnusableSystemError(Exception):
    """The configuration asks for what the system does not have: no task of the arm is begun."""


class UnreadAnswerError(Exception):
    """The system answered, and what it said is an error or cannot be read.

    `payload` and `call` are those of an `Answer`: what was said is kept all the same.
    """

    def __init__(self, reason: str, *, payload: str | None = None, call: str | None = None) -> None:
        super().__init__(reason)
        self.payload = payload
        self.call = call


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What indexing made. `counts` proves that every branch the arm needs is there."""

    n_chunks: int | None = None
    n_vectors: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    device: str | None = None  # really used


class Searcher(Protocol):
    """An opened index in one worker process.

    One whose searches cost something has `spending() -> Spending` as well, which is asked after a
    search that raised: what a failed task has paid for is recorded like that of any other.
    """

    def search(self, query: Query) -> Answer:
        """Answer one query with at most `query.depth` hits."""

    def close(self) -> None:
        """Release processes and files."""


class System(Protocol):
    """One system with one effective configuration; cheap to make, starts nothing by itself.

    One whose hits carry no text has `gives_text = False` as well: an arm that joins texts into one
    is refused then, before anything runs. One that has nothing to search but the corpus it is given
    has `needs_corpus = True`: a dataset whose corpus is not at hand is refused likewise.

    A system of the user's own is identified by its source: its module, its package and what they
    import. What it reads besides, it names in `source_files`, relative to the module's folder.

    One that claims to find hits in several ways may name them in `branches`, as its hits do in
    `RawHit.branch`; a hit found by two has both names, joined by `+`. A run without a single hit
    from a branch named here is told with a caution. Without `branches`, nothing is claimed.
    """

    name: str
    version: str  # known without starting a server, else "unknown"
    adapter_version: str
    output: str  # ranked | composite | blob
    needs_network: bool

    def public_config(self) -> Mapping[str, Any]:
        """The effective configuration for the lake: allowlisted keys, secrets as set / missing."""

    def config_files(self) -> Mapping[str, Path]:
        """Files the configuration names; their hashes become part of the arm."""

    def ingestion_config(self) -> Mapping[str, Any]:
        """The part of the configuration that shapes an index. Hashed into the index key."""

    def index(self, corpus: CorpusView, index_dir: Path) -> IndexReport:
        """Build an index inside an empty folder.

        Raises:
            SystemFailedError: it could not be built, or lacks a branch the arm claims.
        """

    def open(self, corpus: CorpusView, index_dir: Path) -> Searcher:
        """Open a finished index."""
