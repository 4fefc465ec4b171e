"""A BEIR folder: corpus.jsonl, queries.jsonl, qrels/<split>.tsv."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalake_ingest.corpora.sources import DocumentRows
from evalake_ingest.imports.problems import file_sha256, refuse_all
from evalake_ingest.records import DatasetInfo, Drop, GoldItem, Loaded, Qrel, Task
from evalake_warehouse.errors import DatasetError, Problem
from evalake_warehouse.identity import content_hash

LOADER_VERSION = "beir-1"
_CORPUS = "corpus"


def load_beir(folder: Path, dataset: str, *, split: str = "test") -> Loaded:
    """A dataset in BEIR's layout. Queries that the split does not judge are dropped as `no_gold`.

    Raises:
        DatasetError: a file is missing, or with every line that does not fit.
    """
    corpus, queries = folder / "corpus.jsonl", folder / "queries.jsonl"
    qrels = folder / "qrels" / f"{split}.tsv"
    missing = [
        Problem(str(file), "missing") for file in (corpus, queries, qrels) if not file.is_file()
    ]
    refuse_all(missing, str(folder))
    judged = _read_qrels(qrels)
    texts = _read_queries(queries)
    unknown = sorted(judged.keys() - texts.keys())
    refuse_all(
        [Problem(str(qrels), f"query {name!r} is not in queries.jsonl") for name in unknown], ""
    )
    tasks = [_task(name, texts[name], judged[name]) for name in texts if name in judged]
    drops = [Drop(name, "no_gold", task_id=name) for name in texts if name not in judged]
    hashes = [file_sha256(file) for file in (corpus, queries, qrels)]
    info = DatasetInfo(
        name=dataset,
        revision=f"sha256:{content_hash(hashes)}",
        loader_version=LOADER_VERSION,
        source=f"imported BEIR folder, split {split}",
        licence="unknown",
        citation="imported",
        primary_level="doc",
        primary_metric="ndcg@10",
        default_split="all",
    )
    rows = DocumentRows(
        name=_CORPUS, origin=f"imported {folder.name}", rows=lambda: _documents(corpus)
    )
    return Loaded(info=info, corpora=(rows,), tasks=tasks, drops=drops, rows_read=len(texts))


def _task(name: str, text: str, judged: dict[str, int]) -> Task:
    gold = tuple(
        GoldItem(
            gold_id=doc_id,
            level="doc",
            qrels=(Qrel("doc_id", key=doc_id),),
            grade=max(grade, 0),
            role="primary" if grade > 0 else "admissible",
            truth_method="qrels" if grade > 0 else "judged not relevant",
        )
        for doc_id, grade in sorted(judged.items())
    )
    return Task(task_id=name, kind="question", query=text, corpus=_CORPUS, gold=gold)


def _documents(file: Path) -> Iterator[tuple[str, str]]:
    for number, row in _objects(file):
        title, text = row.get("title") or "", row.get("text")
        if not isinstance(row.get("_id"), str) or not isinstance(text, str):
            raise DatasetError("needs `_id` and `text`", where=f"{file}:{number}")
        yield row["_id"], f"{title}\n{text}" if title else text


def _read_queries(file: Path) -> dict[str, str]:
    texts: dict[str, str] = {}
    problems: list[Problem] = []
    for number, row in _objects(file):
        name, text = row.get("_id"), row.get("text")
        if not isinstance(name, str) or not isinstance(text, str):
            problems.append(Problem(f"{file}:{number}", "needs `_id` and `text`"))
        elif name in texts:
            problems.append(Problem(f"{file}:{number}", f"query {name!r} stands above already"))
        else:
            texts[name] = text
    refuse_all(problems, str(file))
    return texts


def _read_qrels(file: Path) -> dict[str, dict[str, int]]:
    judged: defaultdict[str, dict[str, int]] = defaultdict(dict)
    problems: list[Problem] = []
    lines = file.read_text("utf-8-sig").splitlines()
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t")
        if not line.strip() or (number == 1 and fields[-1].strip() == "score"):
            continue
        where = f"{file}:{number}"
        if len(fields) != 3:
            problems.append(
                Problem(where, f"{len(fields)} fields; expected: query-id corpus-id score")
            )
        elif not fields[2].strip().lstrip("-").isdigit():
            problems.append(Problem(where, f"the grade {fields[2]!r} is not a whole number"))
        else:
            judged[fields[0]][fields[1]] = int(fields[2])
    refuse_all(problems, str(file))
    return judged


def _objects(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with file.open(encoding="utf-8-sig") as opened:
        for number, line in enumerate(opened, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise DatasetError(f"not JSON: {error.msg}", where=f"{file}:{number}") from error
            if not isinstance(row, dict):
                raise DatasetError("not an object", where=f"{file}:{number}")
            yield number, row
