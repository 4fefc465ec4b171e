"""Tasks, gold and corpora in the documented JSON Lines schema."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalake_ingest.corpora.rules import TEXT
from evalake_ingest.corpora.sources import DocumentRows, FolderSource, MemorySource
from evalake_ingest.imports.options import DatasetOptions
from evalake_ingest.originals.line_schema import (
    DocumentLine,
    GoldLine,
    TaskGoldLine,
    TaskLine,
    checked_lines,
)
from evalake_ingest.originals.problems import Problems, earlier_place
from evalake_ingest.originals.source_files import Source
from evalake_ingest.records import CorpusSource, GoldItem, Loaded, Qrel, Task
from evalake_warehouse.identity import content_hash
from evalake_warehouse.vocabulary import Level

LOADER_VERSION = "jsonl-3"
_CORPUS = "corpus"
_PRIMARY_METRICS: dict[Level, str] = {
    "file": "recall@10", "symbol": "recall@10", "lines": "recall@10", "doc": "ndcg@10",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class JsonlFiles:
    """The files of one dataset; a corpus is a folder of files or a file of documents, or absent."""

    tasks: Path
    gold: Path | None = None
    corpus: Path | None = None
    documents: Path | None = None
    names: Mapping[str, str] = field(default_factory=dict)  # the files' own names of our keys
    include: tuple[str, ...] = ()  # globs of the folder's files
    exclude: tuple[str, ...] = ()

    @property
    def named(self) -> list[Path]:
        """The corpora that hold files, not documents."""
        return [file for file in (self.tasks, self.gold, self.documents) if file is not None]


@dataclass
class _Gold:
    """Gold items of each task, each with its place; one that is named twice is told."""

    problems: Problems
    _items: defaultdict[str, dict[str, tuple[GoldItem, str]]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def add(self, task_id: str, line: GoldLine, where: str) -> None:
        item = gold_item(line)
        if item.gold_id == line.path and item.level != "file":
            what = f"gold_id {item.gold_id!r} names the gold item of that file; give another"
            self.problems.add(where, what)
        earlier = self._items[task_id].setdefault(item.gold_id, (item, where))
        if earlier[0] is not item:
            there = earlier_place(earlier[1], where)
            what = f"gold {item.gold_id!r} of task {task_id!r} is named in {there} already"
            self.problems.add(where, what)

    def of(self, task_id: str) -> tuple[GoldItem, ...]:
        return tuple(item for item, _ in self._items[task_id].values())


def load_dataset(files: JsonlFiles, options: DatasetOptions, problems: Problems) -> Loaded:
    """A dataset from a file of tasks, whose gold may stand in a file of its own.

    The primary level is that of the gold items, or the coarsest of them: file, lines, symbol.
    """
    gold = _Gold(problems)
    sources = [Source(file, problems) for file in files.named]
    by_file = dict(zip(files.named, sources, strict=True))
    lines: dict[str, tuple[int, TaskLine]] = {}
    source = by_file[files.tasks]
    for number, line in checked_lines(
        source, TaskLine, problems, names=files.names, scale=options.grade_scale
    ):
        earlier = lines.setdefault(line.task_id, (number, line))[0]
        if earlier != number:
            what = f"task_id {line.task_id!r} stands in line {earlier} already"
            problems.add(source.place(number), what)
            continue
        for index, item in enumerate(line.gold):
            gold.add(line.task_id, item, f"{source.place(number)}: `gold.{index}`")
    if not lines and not problems:
        source.refuse("no tasks in it")
    if files.gold is not None:
        _read_gold(by_file[files.gold], files, options, gold, lines)
    if files.documents is not None:
        for _ in _documents(by_file[files.documents], problems, files.names):
            pass  # checked here; read once more when the corpus is laid out
    tasks = [_task(line, gold.of(task_id)) for task_id, (_, line) in lines.items()]
    level = _primary_level(tasks)
    hashes = [source.sha256 for source in sources]
    info = options.info(
        revision=content_hash(hashes) if len(hashes) > 1 else hashes[0],
        loader_version=LOADER_VERSION,
        source=", ".join(file.name for file in files.named),
        level=level,
        metric=_PRIMARY_METRICS[level],
        caveats=() if files.corpus or files.documents else ("The corpus is not at hand.",),
        strata_label="stratum" if any(task.stratum for task in tasks) else None,
    )
    globs = {"include": files.include, "exclude": files.exclude}
    return Loaded(
        info=info,
        corpora=(_corpus(files),),
        tasks=tasks,
        drops=(),
        rows_read=len(tasks),
        selection={name: list(values) for name, values in globs.items() if values},
    )


def _read_gold(
    source: Source,
    files: JsonlFiles,
    options: DatasetOptions,
    gold: _Gold,
    tasks: Mapping[str, object],
) -> None:
    problems = gold.problems
    are_whole = not problems  # else a task that is missing may be one that was refused
    for number, line in checked_lines(
        source, TaskGoldLine, problems, names=files.names, scale=options.grade_scale
    ):
        if line.task_id in tasks:
            gold.add(line.task_id, line, source.place(number))
        elif are_whole:
            what = f"task_id {line.task_id!r} is not in {files.tasks.name}"
            problems.add(source.place(number), what)


def _task(line: TaskLine, gold: tuple[GoldItem, ...]) -> Task:
    return Task(
        task_id=line.task_id,
        kind=line.kind,
        query=line.query,
        corpus=_CORPUS,
        gold=gold,
        query_variants=line.query_variants,
        repo=line.repo,
        library=line.library,
        qa_type=line.qa_type,
        qa_subtype=line.qa_subtype,
        labels=line.labels,
        stratum=line.stratum,
    )


def gold_item(line: GoldLine) -> GoldItem:
    """A gold item with one qrel for each way the line names it."""
    qrels: list[Qrel] = []
    if line.doc_id is not None:
        qrels.append(Qrel("doc_id", key=line.doc_id))
    if line.symbol is not None:
        qrels.append(Qrel("symbol", line.symbol, line.path, line.start_line, line.end_line))
    elif line.start_line is not None:
        qrels.append(Qrel("lines", None, line.path, line.start_line, line.end_line))
    elif line.path is not None:
        qrels.append(Qrel("file", path=line.path))
    if line.fingerprint is not None:
        qrels.append(Qrel("fingerprint", key=line.fingerprint))
    if line.text is not None:
        qrels.append(Qrel("text", key=line.text))
    level = line.level or _level(line)
    return GoldItem(
        gold_id=line.gold_id or _gold_id(line),
        level=level,
        qrels=tuple(qrels),
        grade=max(line.grade, 0),
        role=line.role if line.grade > 0 else "admissible",
        truth_method=line.truth_method,
        evidence=line.evidence,
    )


def _level(line: GoldLine) -> Level:
    if line.doc_id is not None:
        return "doc"
    if line.symbol is not None or line.fingerprint is not None:
        return "symbol"
    if line.start_line is not None:
        return "lines"
    return "file" if line.path is not None else "doc"


def _gold_id(line: GoldLine) -> str:
    if line.doc_id is not None:
        return line.doc_id
    place = line.path or ""
    if line.symbol is not None:
        return f"{place}::{line.symbol}" if place else line.symbol
    if line.start_line is not None:
        return f"{place}#L{line.start_line}-L{line.end_line}"
    return place or f"sha256:{content_hash([line.fingerprint, line.text])[:16]}"


def _primary_level(tasks: list[Task]) -> Level:
    levels = {item.level for task in tasks for item in task.gold}
    order: tuple[Level, ...] = ("doc", "file", "lines", "symbol")
    return next((level for level in order if level in levels), "doc")


def _corpus(files: JsonlFiles) -> CorpusSource:
    if files.corpus is not None:
        rule = TEXT.narrowed(files.include, files.exclude)
        return FolderSource(_CORPUS, f"folder {files.corpus.name}", files.corpus, rule=rule)
    if (documents := files.documents) is not None:
        origin = f"imported {documents.name}"
        return DocumentRows(
            name=_CORPUS, origin=origin, rows=lambda: _documents_again(files, documents)
        )
    return MemorySource(name=_CORPUS, origin=f"not at hand; {files.tasks.name}", contents={})


def _documents(
    source: Source, problems: Problems, names: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    first: dict[str, int] = {}
    for number, line in checked_lines(source, DocumentLine, problems, names=names):
        earlier = first.setdefault(line.doc_id, number)
        if earlier != number:
            what = f"document {line.doc_id!r} stands in line {earlier} already"
            problems.add(source.place(number), what)
        yield line.doc_id, line.text


def _documents_again(files: JsonlFiles, file: Path) -> Iterator[tuple[str, str]]:
    problems = Problems()
    yield from _documents(Source(file, problems), problems, files.names)
    problems.refuse()  # the file has changed since it was checked
