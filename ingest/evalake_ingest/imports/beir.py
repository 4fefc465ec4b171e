"""BEIR's layout: a corpus, queries and qrels, as JSON Lines with TSV, or as the hub's Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from evalake_ingest.corpora.sources import DocumentRows
from evalake_ingest.imports.beir_layout import BeirFiles, Rows
from evalake_ingest.imports.options import DatasetOptions
from evalake_ingest.imports.pairs import Judgements, doc_gold
from evalake_ingest.originals.problems import Problems, earlier_place
from evalake_ingest.originals.value_rules import BadValueError, as_id, as_query
from evalake_ingest.records import Drop, Loaded, Task
from evalake_warehouse.identity import content_hash

LOADER_VERSION = "beir-2"
_CORPUS = "corpus"


def load_beir(folder: Path, options: DatasetOptions, problems: Problems, *, split: str) -> Loaded:
    """A dataset in BEIR's layout; queries that the split does not judge drop out as `no_gold`."""
    files = BeirFiles.find(folder, split, problems)
    queries, qrels, corpus = (
        Rows(found, problems) for found in (files.queries, files.qrels, files.corpus)
    )
    texts = _read_queries(queries, problems)
    judgements = Judgements(problems, qrels.place, options.grade_scale)
    for number, row in qrels:
        judgements.add(number, row.get("query-id"), row.get("corpus-id"), row.get("score"))
    judged = judgements.grades
    for _ in _documents(corpus, problems):
        pass  # checked here; read once more when the corpus is laid out
    if not problems:
        for name in judged.keys() - texts.keys():
            where = qrels.place(judgements.first_number(name))
            problems.add(where, f"query {name!r} is not among the queries")
    if not judged and not problems:
        problems.add(str(folder), f"no qrels of split {split}")
    tasks = [
        Task(task_id=name, kind="question", query=text, corpus=_CORPUS, gold=doc_gold(judged[name]))
        for name, text in texts.items()
        if name in judged
    ]
    drops = [Drop(name, "no_gold", task_id=name) for name in texts if name not in judged]
    info = options.info(
        revision=content_hash([corpus.sha256, queries.sha256, qrels.sha256]),
        loader_version=LOADER_VERSION,
        source=f"BEIR folder, split {split}",
        level="doc",
        metric="ndcg@10",
    )
    source = DocumentRows(
        name=_CORPUS, origin=f"imported {folder.name}", rows=lambda: _documents_again(files)
    )
    return Loaded(info=info, corpora=(source,), tasks=tasks, drops=drops, rows_read=len(texts))


def _read_queries(rows: Rows, problems: Problems) -> dict[str, str]:
    texts: dict[str, str] = {}
    first: dict[str, int] = {}
    for number, row in rows:
        try:
            name, text = as_id(_own_id(row)), as_query(row.get("text"))
        except BadValueError as error:
            problems.add(rows.place(number), str(error))
            continue
        if name in texts:
            there = earlier_place(rows.place(first[name]), rows.place(number))
            problems.add(rows.place(number), f"query {name!r} stands in {there} already")
        texts[name], first[name] = text, number
    return texts


def _documents(rows: Rows, problems: Problems) -> Iterator[tuple[str, str]]:
    first: dict[str, int] = {}
    for number, row in rows:
        title, text = row.get("title") or "", row.get("text")
        try:
            name = as_id(_own_id(row))
            if not isinstance(text, str) or not isinstance(title, str):
                raise BadValueError("a document needs `text`, and its `title` is text too")
        except BadValueError as error:
            problems.add(rows.place(number), str(error))
            continue
        earlier = first.setdefault(name, number)
        if earlier != number:
            there = earlier_place(rows.place(earlier), rows.place(number))
            problems.add(rows.place(number), f"document {name!r} stands in {there} already")
        yield name, f"{title}\n{text}" if title else text


def _documents_again(files: BeirFiles) -> Iterator[tuple[str, str]]:
    problems = Problems()
    yield from _documents(Rows(files.corpus, problems), problems)
    problems.refuse()  # the files have changed since they were checked


def _own_id(row: Mapping[str, object]) -> object:
    if "_id" not in row and "id" not in row:
        raise BadValueError("needs `_id` and `text`")
    return row.get("_id", row.get("id"))
