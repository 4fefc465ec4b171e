"""Datasets of which judgements are known, and neither the corpus nor the wording of the queries."""

from __future__ import annotations

from collections.abc import Mapping

from evalake_ingest.corpora.sources import MemorySource
from evalake_ingest.imports.options import DatasetOptions
from evalake_ingest.imports.pairs import doc_gold
from evalake_ingest.records import Drop, Loaded, Task

_CORPUS = "judged elsewhere"


def judged_elsewhere(
    grades: Mapping[str, Mapping[str, int]], options: DatasetOptions, *, kind: str,
    loader_version: str, revision: str, name: str,
) -> Loaded:  # fmt: skip
    """A dataset whose tasks are the queries of some judgements; each is worded as its own id.

    Args:
        grades: of documents, by query.
        kind: of its tasks.
        name: of the file.
    """
    tasks = [
        Task(task_id=query, kind=kind, query=query, corpus=_CORPUS, gold=doc_gold(judged))
        for query, judged in sorted(grades.items())
        if judged
    ]
    drops = [
        Drop(query, "no_gold", task_id=query) for query, judged in grades.items() if not judged
    ]
    info = options.info(
        revision=revision,
        loader_version=loader_version,
        source=f"qrels {name}",
        level="doc",
        metric="ndcg@10",
        caveats=("Imported judgements: the corpus and the queries' wording are not at hand.",),
    )
    corpus = MemorySource(name=_CORPUS, origin=f"not at hand; judged in {name}", contents={})
    return Loaded(info=info, corpora=(corpus,), tasks=tasks, drops=drops, rows_read=len(grades))
