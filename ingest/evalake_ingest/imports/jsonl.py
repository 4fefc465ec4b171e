"""Tasks, gold, corpora and rankings in the documented JSON Lines schema."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evalake_ingest.corpora.sources import DocumentRows, FolderSource, MemorySource
from evalake_ingest.imports.problems import file_sha256, refuse_all
from evalake_ingest.imports.rankings import ImportedAnswer, ImportedHit, Ranking, Unanswered
from evalake_ingest.imports.schema import (
    AnswerLine,
    DocumentLine,
    GoldLine,
    HitLine,
    TaskGoldLine,
    TaskLine,
    iterate_lines,
    read_lines,
)
from evalake_ingest.records import CorpusSource, DatasetInfo, GoldItem, Level, Loaded, Qrel, Task
from evalake_warehouse.errors import DatasetError, Problem
from evalake_warehouse.identity import content_hash

LOADER_VERSION = "jsonl-2"
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

    @property
    def named(self) -> list[Path]:
        """Those that are files."""
        return [file for file in (self.tasks, self.gold, self.documents) if file is not None]


def load_dataset(files: JsonlFiles, dataset: str, *, primary_metric: str | None = None) -> Loaded:
    """A dataset from a file of tasks, whose gold may stand in a file of its own.

    The primary level is that of the gold items, or the coarsest of them: file, lines, symbol.

    Raises:
        DatasetError: with every line that does not fit.
    """
    lines = read_lines(files.tasks, TaskLine)
    gold: defaultdict[str, list[GoldLine]] = defaultdict(list)
    problems: list[Problem] = []
    first_line: dict[str, int] = {}
    for number, task in lines:
        earlier = first_line.setdefault(task.task_id, number)
        if earlier != number:
            what = f"task_id {task.task_id!r} stands in line {earlier} already"
            problems.append(Problem(f"{files.tasks}:{number}", what))
        gold[task.task_id] += task.gold
    for number, item in read_lines(files.gold, TaskGoldLine) if files.gold else []:
        if item.task_id in first_line:
            gold[item.task_id].append(item)
        else:
            what = f"task_id {item.task_id!r} is not in {files.tasks.name}"
            problems.append(Problem(f"{files.gold}:{number}", what))
    refuse_all(problems, str(files.tasks))
    if not lines:
        raise DatasetError("no tasks in it", where=str(files.tasks))
    tasks = [_task(task, gold[task.task_id]) for _, task in lines]
    level = _primary_level(tasks)
    hashes = [file_sha256(file) for file in files.named]
    info = DatasetInfo(
        name=dataset,
        revision=f"sha256:{content_hash(hashes) if len(hashes) > 1 else hashes[0]}",
        loader_version=LOADER_VERSION,
        source=", ".join(["imported", *(file.name for file in files.named)]),
        licence="unknown",
        citation="imported",
        primary_level=level,
        primary_metric=primary_metric or _PRIMARY_METRICS[level],
        default_split="all",
        caveats=() if files.corpus or files.documents else ("The corpus is not at hand.",),
        strata_label="stratum" if any(task.stratum for task in tasks) else None,
    )
    return Loaded(info=info, corpora=(_corpus(files),), tasks=tasks, drops=(), rows_read=len(tasks))


def load_answers(
    file: Path, label: str, *, depth: int | None = None, unanswered: Unanswered = "not_attempted"
) -> Ranking:
    """A ranking from a file of answers, one line per task, hits best first.

    Raises:
        DatasetError: with every line that does not fit.
    """
    answers: dict[str, ImportedAnswer] = {}
    problems: list[Problem] = []
    for number, line in read_lines(file, AnswerLine):
        where = f"{file}:{number}"
        if line.task_id in answers:
            problems.append(Problem(where, f"a second answer to task {line.task_id!r}"))
        for index, hit in enumerate(line.hits):
            if _item_id(hit) is None:
                what = f"`hits.{index}` names nothing: give path, qualified_name, doc_id or text"
                problems.append(Problem(where, what))
        answers[line.task_id] = ImportedAnswer(
            hits=[_hit(hit) for hit in line.hits],
            status=line.status,
            reason=line.reason,
            seconds=line.seconds,
            cost_usd=line.cost_usd,
        )
    refuse_all(problems, str(file))
    if not answers:
        raise DatasetError("no answers in it", where=str(file))
    return Ranking(
        label=label,
        source_format="jsonl",
        source_name=file.name,
        source_sha256=file_sha256(file),
        answers=answers,
        depth=depth,
        unanswered=unanswered,
    )


def _task(line: TaskLine, gold: list[GoldLine]) -> Task:
    return Task(
        task_id=line.task_id,
        kind=line.kind,
        query=line.query,
        corpus=_CORPUS,
        gold=tuple(gold_item(item) for item in gold),
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
        return FolderSource(name=_CORPUS, origin=f"folder {files.corpus.name}", root=files.corpus)
    if (documents := files.documents) is not None:
        origin = f"imported {documents.name}"
        return DocumentRows(name=_CORPUS, origin=origin, rows=lambda: _documents(documents))
    return MemorySource(name=_CORPUS, origin=f"not at hand; {files.tasks.name}", contents={})


def _documents(file: Path) -> Iterator[tuple[str, str]]:
    for _, line in iterate_lines(file, DocumentLine):
        yield line.doc_id, line.text


def _item_id(hit: HitLine) -> str | None:
    if hit.path is not None and hit.start_line is not None:
        place: str | None = f"{hit.path}:{hit.start_line}-{hit.end_line}"
    else:
        place = hit.path
    named = hit.item_id or hit.doc_id or hit.qualified_name or place
    return named or (f"text:{content_hash(hit.text)[:16]}" if hit.text is not None else None)


def _hit(hit: HitLine) -> ImportedHit:
    return ImportedHit(
        item_id=_item_id(hit) or "",
        score=hit.score,
        path=hit.path,
        start_line=hit.start_line,
        end_line=hit.end_line,
        qualified_name=hit.qualified_name,
        doc_id=hit.doc_id,
        title=hit.title,
        text=hit.text,
    )
