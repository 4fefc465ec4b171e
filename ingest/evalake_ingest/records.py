"""What a loader yields: tasks with their gold, source rows left out, and corpora.

A loader turns the original files of one benchmark into these records and nothing else.
Editions, splits, lake rows, the gold / empty self-check and materialised corpora are made
from them by `evalake_ingest.editions.pipeline`, once, for every dataset alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from evalake_warehouse.vocabulary import GoldRole, Level, Relation

# How tasks are split: by their hash; all of them dev, so that no tail is held back; not at all.
SplitRule = Literal["hash", "dev", "all"]

# Closed list; `drops.reason` holds nothing else. docs/datasets.md explains each.
DropReason = Literal[
    "no_citation",  # the answer names no file at all
    "unresolved_citation",  # it names files, none of which is in the corpus
    "ambiguous_basename",  # a bare file name that several files of the corpus carry
    "null_answer",
    "no_gold",  # the source row has no gold annotation
    "gold_not_in_corpus",  # gold that is not found in the corpus at hand
    "file_left_out",  # gold in a file that the source has and the corpus has not
    "ambiguous_symbol",  # a name that several definitions of the corpus have
    "fingerprint_not_in_corpus",
    "corpus_unavailable",  # the corpus at its pin is not to be had here
    "duplicate_task",
    "missing_field",
    "not_selected",  # filtered out by --repo or --library
]


@dataclass(frozen=True, slots=True)
class Qrel:
    """One way to recognise a gold item. Lines count from 1, both ends included.

    relation -> what is set: `file`: path; `lines`: path and lines; `symbol`: key (qualified
    name) and, where known, path and lines; `fingerprint`: key; `doc_id`: key; `text`: key is the
    text itself (the pipeline stores it once and keeps its hash).
    """

    relation: Relation
    key: str | None = None
    path: str | None = None
    start_line: int | None = None
    end_line: int | None = None


@dataclass(frozen=True, slots=True)
class GoldItem:
    """One thing that counts as relevant for a task, at one level."""

    gold_id: str  # unique within the task, over all levels; stable across editions
    level: Level
    qrels: tuple[Qrel, ...]
    grade: int = 1
    role: GoldRole = "primary"  # only `primary` and `core` count as relevant
    truth_method: str = "annotated"
    evidence: str | None = None  # the citation or row it came from, verbatim


@dataclass(frozen=True, slots=True)
class Task:
    """One evaluation unit."""

    task_id: str
    kind: str  # describe, question, locate, impact, references, code
    query: str
    corpus: str  # name of a `CorpusSource` of this loader
    gold: tuple[GoldItem, ...]
    query_variants: Mapping[str, str] = field(default_factory=dict)  # without the default one
    repo: str | None = None
    library: str | None = None
    qa_type: str | None = None
    qa_subtype: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    stratum: str | None = None  # value of the dataset's strata label
    source_row: str | None = None  # where it came from; None is the task id


@dataclass(frozen=True, slots=True)
class Drop:
    """A source row (or one gold item of a kept row) that was left out, and why."""

    source_row: str  # e.g. flask.jsonl:12
    reason: DropReason
    task_id: str | None = None
    evidence: str | None = None


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """One file (`path` is POSIX, relative) or one documentation row (`path` is its doc id)."""

    path: str
    content: bytes


# Closed list; docs/datasets.md explains each.
SkipStatus = Literal[
    "skipped_binary",
    "skipped_duplicate",
    "skipped_encoding",
    "skipped_excluded",
    "skipped_generated",
    "skipped_link",
    "skipped_not_included",
    "skipped_path",
    "skipped_size",
    "skipped_special",
    "skipped_suffix",
    "skipped_unreadable",
    "skipped_vendored",
]


@dataclass(frozen=True, slots=True)
class SkippedDocument:
    """One entry of a source that is no part of the corpus, and why."""

    path: str  # a folder that is left out whole ends in `/`
    status: SkipStatus
    detail: str | None = None
    n_files: int = 1  # that a folder holds
    n_bytes: int = 0


class CorpusSource(Protocol):
    """A corpus as its source has it; content is read lazily, one document at a time."""

    @property
    def name(self) -> str:
        """Tasks name their corpus by it."""

    @property
    def kind(self) -> Literal["files", "documents"]:
        """Files at paths, or documentation rows with ids."""

    @property
    def origin(self) -> str:
        """Where it came from, in words or as a URL."""

    @property
    def repo(self) -> str | None:
        """`owner/name` where the corpus is one repository, else None."""

    @property
    def commit(self) -> str | None:
        """Full SHA of the pin."""

    def documents(self) -> Iterator[CorpusDocument | SkippedDocument]:
        """Every file or document. Order does not matter."""


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """What a dataset is, for `datasets` rows, reports and docs/datasets.md."""

    name: str
    revision: str  # pinned version of the source; never a branch
    loader_version: str  # raised when the loader's output may change
    source: str
    licence: str
    citation: str
    primary_level: Level
    primary_metric: str  # e.g. recall@5
    default_split: str
    caveats: tuple[str, ...] = ()
    strata_label: str | None = None
    sha256: str | None = None  # of the single source file, where there is one
    split_rule: SplitRule = "hash"
    ignore_identical_ids: bool = False  # the document with a task's own id is no answer to it
    declared: tuple[str, ...] = ()  # what an import declared; part of the edition's identity


# Flags of `evalake ingest` that not every loader can heed; each declares those that it does.
LoadFlag = Literal[
    "--from", "--archives", "--revision", "--repo", "--library", "--narrow-corpus", "--include",
    "--exclude",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What the command line may ask of a loader."""

    cache: Path  # downloads and clones shared by all projects
    source_dir: Path | None = None  # --from: original files already on disk
    archives_dir: Path | None = None  # --archives: tarballs of corpora at their pins
    revision: str | None = None  # --revision; None is the loader's own pin
    repos: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    narrow_corpus: bool = False  # --library also narrows the corpus
    include: tuple[str, ...] = ()  # globs of files; given, they stand in place of its suffixes
    exclude: tuple[str, ...] = ()

    @property
    def given(self) -> dict[LoadFlag, object]:
        """The selection flags that were given, with their values."""
        values: dict[LoadFlag, object] = {
            "--from": self.source_dir, "--archives": self.archives_dir,
            "--revision": self.revision, "--repo": self.repos, "--library": self.libraries,
            "--narrow-corpus": self.narrow_corpus, "--include": self.include,
            "--exclude": self.exclude,
        }  # fmt: skip
        return {flag: value for flag, value in values.items() if value}

    @property
    def selection(self) -> dict[str, list[str]]:
        """The part of a benchmark that was asked for; empty for all of it."""
        chosen = {
            "repo": sorted(set(self.repos)), "library": sorted(set(self.libraries)),
            "include": list(self.include), "exclude": list(self.exclude),
        }  # fmt: skip
        if self.narrow_corpus:
            chosen["corpus"] = ["narrow"]
        return {name: values for name, values in chosen.items() if values}


@dataclass(frozen=True, slots=True)
class Loaded:
    """A benchmark read from its original files."""

    info: DatasetInfo
    corpora: tuple[CorpusSource, ...]
    tasks: Iterable[Task]
    drops: Iterable[Drop]
    rows_read: int
    selection: Mapping[str, Sequence[str]] = field(default_factory=dict)  # `--repo`, `--library`


class Loader(Protocol):
    """One benchmark. Registered by name in `evalake_ingest.benchmarks.BENCHMARKS`."""

    name: str
    takes: frozenset[LoadFlag]  # any other flag is refused before `load`

    def load(self, options: LoadOptions) -> Loaded:
        """Read the original files.

        Raises:
            DatasetError: a file is missing, truncated, of another hash or schema.
            DownloadError: a file is not at hand and could not be fetched.
        """
