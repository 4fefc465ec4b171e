"""Pairs of query and document: graded (qrels) or scored (runs), in whatever format they came."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from evalake_ingest.imports.options import RankingOptions
from evalake_ingest.originals.problems import Problems, earlier_place
from evalake_ingest.originals.value_rules import BadValueError, as_grade, as_id, as_score
from evalake_ingest.rankings.answers import ImportedAnswer, ImportedHit, Ranking
from evalake_ingest.records import GoldItem, Qrel

Place = Callable[[int], str]  # where an entry is, by its line or row


@dataclass
class Judgements:
    """Grades by query and document; a pair that is judged twice is a problem."""

    problems: Problems
    place: Place
    scale: int = 1
    _entries: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)

    def add(self, number: int, query: object, document: object, grade: object) -> None:
        """One entry, of line or row `number`."""
        try:
            asked, name = as_id(query), as_id(document)
            value = as_grade(grade, self.scale)
        except BadValueError as error:
            self.problems.add(self.place(number), str(error))
            return
        judged = self._entries.setdefault(asked, {})
        earlier, before = judged.setdefault(name, (number, value))
        if earlier != number:
            line = earlier_place(self.place(earlier), self.place(number))
            told = f"graded {before} there and {value} here" if value != before else "there too"
            what = f"document {name!r} of query {asked!r} is judged in {line}"
            self.problems.add(self.place(number), f"{what} already: {told}")

    def add_empty(self, query: str) -> None:
        """A query without a judgement."""
        self._entries.setdefault(query, {})

    @property
    def grades(self) -> dict[str, dict[str, int]]:
        """Grade of each document, by query, in the order of the file."""
        return {
            query: {name: grade for name, (_, grade) in judged.items()}
            for query, judged in self._entries.items()
        }

    def first_number(self, query: str) -> int:
        """Line or row of a query's first entry."""
        return next(iter(self._entries[query].values()))[0]


@dataclass
class ScoredLists:
    """Scored documents by query; one that a query lists twice is a problem, as in trec_eval."""

    problems: Problems
    place: Place
    _lists: defaultdict[str, dict[str, tuple[int, float, int | None]]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def add(
        self, number: int, query: object, document: object, score: object, rank: str | None = None
    ) -> None:
        """Add a scored document of line or row `number`, with its rank if the file has ranks."""
        try:
            asked, name = as_id(query), as_id(document)
            value = as_score(score)
        except BadValueError as error:
            self.problems.add(self.place(number), str(error))
            return
        earlier = self._lists[asked].setdefault(name, (number, value, _rank(rank)))[0]
        if earlier != number:
            line = earlier_place(self.place(earlier), self.place(number))
            what = f"document {name!r} of query {asked!r} stands in {line} already"
            self.problems.add(self.place(number), what)

    def add_empty(self, query: str) -> None:
        """A query that was answered with nothing."""
        _ = self._lists[query]

    def ranking(
        self, options: RankingOptions, source_format: str, name: str, sha256: str
    ) -> Ranking:
        """The lists as a ranking, each ordered by its scores."""
        return Ranking(
            label=options.label,
            source_format=source_format,
            source_name=name,
            source_sha256=sha256,
            answers={query: _answer(listed) for query, listed in self._lists.items()},
            depth=options.depth,
            unanswered=options.unanswered,
            orders=tuple(self._orders()),
        )

    def _orders(self) -> Iterator[list[tuple[int, float]]]:
        """(rank, score) of the lists whose file tells a rank of its own for every document."""
        for listed in self._lists.values():
            told = [(rank, score) for _, score, rank in listed.values() if rank is not None]
            if len(told) == len(listed) == len({rank for rank, _ in told}):
                yield told


def doc_gold(judged: Mapping[str, int]) -> tuple[GoldItem, ...]:
    """Gold of one task from grades of documents.

    A grade of 1 or more is relevant. One of 0 or less is kept as a judgement (role `admissible`,
    grade 0): it makes nothing relevant, and counts for judged@k.
    """
    return tuple(
        GoldItem(
            gold_id=name,
            level="doc",
            qrels=(Qrel("doc_id", key=name),),
            grade=max(grade, 0),
            role="primary" if grade > 0 else "admissible",
            truth_method="qrels" if grade > 0 else "judged not relevant",
            evidence=None if grade >= 0 else f"grade {grade}",
        )
        for name, grade in sorted(judged.items())
    )


def rank_by_score(listed: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Best first: scores as 32-bit floats descending, then doc ids by their bytes descending."""
    with np.errstate(over="ignore"):
        keyed = [
            (float(np.float32(score)), doc_id.encode(), doc_id, score) for doc_id, score in listed
        ]
    keyed.sort(key=lambda item: item[:2], reverse=True)
    return [(doc_id, score) for _, _, doc_id, score in keyed]


def _answer(listed: Mapping[str, tuple[int, float, int | None]]) -> ImportedAnswer:
    ranked = rank_by_score([(name, score) for name, (_, score, _) in listed.items()])
    return ImportedAnswer([ImportedHit(name, score, doc_id=name) for name, score in ranked])


def _rank(text: str | None) -> int | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return None
