"""TREC qrels and run files, read the way trec_eval reads them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from evalake_ingest.corpora.sources import MemorySource
from evalake_ingest.imports.problems import file_sha256, refuse_all
from evalake_ingest.imports.rankings import ImportedAnswer, ImportedHit, Ranking, Unanswered
from evalake_ingest.records import DatasetInfo, GoldItem, Loaded, Qrel, Task
from evalake_warehouse.errors import DatasetError, Problem

LOADER_VERSION = "trec-1"
_CORPUS = "judged elsewhere"


def load_qrels(file: Path, dataset: str) -> Loaded:
    """A dataset from lines of `topic iteration doc grade`; topics are its tasks.

    A grade of 1 or more is relevant. A grade of 0 or less is kept as a judgement (role
    `admissible`, grade 0): it makes nothing relevant, and counts for judged@k. Each topic's
    text is unknown, so its query is the topic's name.

    Raises:
        DatasetError: with every line that cannot be read.
    """
    problems: list[Problem] = []
    grades: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for number, fields in _lines(file):
        where = f"{file}:{number}"
        if len(fields) != 4:
            problems.append(
                Problem(where, f"{len(fields)} fields; expected: topic iteration doc grade")
            )
        elif (grade := _whole(fields[3])) is None:
            problems.append(Problem(where, f"the grade {fields[3]!r} is not a whole number"))
        elif grades[fields[0]].setdefault(fields[2], grade) != grade:
            problems.append(
                Problem(where, f"doc {fields[2]!r} of topic {fields[0]!r} has another grade above")
            )
    refuse_all(problems, str(file))
    if not grades:
        raise DatasetError("no qrels in it", where=str(file))
    digest = file_sha256(file)
    tasks = [
        Task(task_id=topic, kind="topic", query=topic, corpus=_CORPUS, gold=tuple(_gold(judged)))
        for topic, judged in sorted(grades.items())
    ]
    info = DatasetInfo(
        name=dataset,
        revision=f"sha256:{digest}",
        loader_version=LOADER_VERSION,
        source=f"imported qrels {file.name}",
        licence="unknown",
        citation="imported",
        primary_level="doc",
        primary_metric="ndcg@10",
        default_split="all",
        caveats=("Imported judgements: the corpus and the topics' texts are not at hand.",),
        sha256=digest,
    )
    corpus = MemorySource(name=_CORPUS, origin=f"not at hand; judged in {file.name}", contents={})
    return Loaded(info=info, corpora=(corpus,), tasks=tasks, drops=(), rows_read=len(tasks))


def _gold(judged: Mapping[str, int]) -> Iterator[GoldItem]:
    for doc_id, grade in sorted(judged.items()):
        yield GoldItem(
            gold_id=doc_id,
            level="doc",
            qrels=(Qrel("doc_id", key=doc_id),),
            grade=max(grade, 0),
            role="primary" if grade > 0 else "admissible",
            truth_method="qrels" if grade > 0 else "judged not relevant",
            evidence=None if grade >= 0 else f"grade {grade}",
        )


def load_run(
    file: Path, label: str, *, depth: int | None = None, unanswered: Unanswered = "not_attempted"
) -> Ranking:
    """A ranking from lines of `topic Q0 doc rank score tag`.

    Ranks are made from the scores, never read: compared as 32-bit floats, ties by doc id
    descending, as trec_eval does. Like there, a doc that a topic lists twice is refused.

    Raises:
        DatasetError: with every line that cannot be read or repeats a doc of its topic.
    """
    problems: list[Problem] = []
    found: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    first_line: dict[tuple[str, str], int] = {}
    for number, fields in _lines(file):
        where = f"{file}:{number}"
        if len(fields) != 6:
            problems.append(
                Problem(where, f"{len(fields)} fields; expected: topic Q0 doc rank score tag")
            )
        elif (score := _score(fields[4])) is None:
            problems.append(Problem(where, f"the score {fields[4]!r} is not a number"))
        elif (earlier := first_line.setdefault((fields[0], fields[2]), number)) != number:
            what = f"doc {fields[2]!r} of topic {fields[0]!r} stands in line {earlier} already"
            problems.append(Problem(where, what))
        else:
            found[fields[0]].append((fields[2], score))
    refuse_all(problems, str(file))
    if not found:
        raise DatasetError("no ranking in it", where=str(file))
    return Ranking(
        label=label,
        source_format="trec",
        source_name=file.name,
        source_sha256=file_sha256(file),
        answers={
            topic: ImportedAnswer(
                [
                    ImportedHit(doc_id, score, doc_id=doc_id)
                    for doc_id, score in rank_by_score(listed)
                ]
            )
            for topic, listed in found.items()
        },
        depth=depth,
        unanswered=unanswered,
    )


def rank_by_score(listed: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Best first: scores as 32-bit floats descending, then doc ids by their bytes descending."""
    with np.errstate(over="ignore"):
        keyed = [
            (float(np.float32(score)), doc_id.encode(), doc_id, score) for doc_id, score in listed
        ]
    keyed.sort(key=lambda item: item[:2], reverse=True)
    return [(doc_id, score) for _, _, doc_id, score in keyed]


def _lines(file: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        with file.open(encoding="utf-8-sig") as opened:
            for number, line in enumerate(opened, start=1):
                if fields := line.split():
                    yield number, fields
    except UnicodeDecodeError as error:
        raise DatasetError(f"not UTF-8: {error.reason}", where=str(file)) from error
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror}", where=str(file)) from error


def _whole(text: str) -> int | None:
    try:
        return int(text) if "_" not in text else None
    except ValueError:
        return None


def _score(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value
