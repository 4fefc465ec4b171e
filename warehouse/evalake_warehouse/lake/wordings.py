"""What the tasks of an edition ask, and of which corpus.

An answer is evidence for every edition that asks the same: the same wording, in the same corpus,
with the same repository and library told to the system. Gold has no part in it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow.parquet as pq

Question = tuple[str | None, str, str | None, str | None]  # wording, corpus id, repo, library
Questions = Mapping[str, Question]  # per task id

DEFAULT_VARIANT = "default"


def read_questions(files: Iterable[Path], variant: str) -> dict[str, Questions]:
    """Questions per edition, in one wording, from files of `tasks`."""
    columns = [
        "edition", "task_id", "query", "query_variants_json", "corpus_id", "repo", "library",
    ]  # fmt: skip
    found: defaultdict[str, dict[str, Question]] = defaultdict(dict)
    for file in files:
        for row in pq.ParquetFile(file).read(columns=columns).to_pylist():
            wording = row["query"]
            if variant != DEFAULT_VARIANT:
                wording = json.loads(row["query_variants_json"]).get(variant)
            question = (wording, row["corpus_id"], row["repo"], row["library"])
            found[row["edition"]][row["task_id"]] = question
    return dict(found)


def read_splits(files: Iterable[Path]) -> dict[str, dict[str, set[str]]]:
    """Task ids per edition and split, from files of `splits`."""
    found: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for file in files:
        columns = ["edition", "split", "task_id"]
        for row in pq.ParquetFile(file).read(columns=columns).to_pylist():
            found[row["edition"]][row["split"]].add(row["task_id"])
    return {edition: dict(splits) for edition, splits in found.items()}
