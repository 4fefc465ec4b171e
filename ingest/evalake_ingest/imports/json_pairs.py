"""`{query: {document: number}}`: how BEIR, MTEB, pytrec_eval and ranx keep qrels and runs."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import cached_property
from json import JSONDecodeError, JSONDecoder
from pathlib import Path

from evalake_ingest.imports.judged import judged_elsewhere
from evalake_ingest.imports.options import DatasetOptions, RankingOptions
from evalake_ingest.imports.pairs import Judgements, ScoredLists
from evalake_ingest.originals.formats import refuse_another_form
from evalake_ingest.originals.problems import Problems, earlier_place
from evalake_ingest.originals.source_files import Source
from evalake_ingest.originals.value_rules import BadValueError, lone_surrogate
from evalake_ingest.rankings.answers import Ranking
from evalake_ingest.records import Loaded

LOADER_VERSION = "json-1"

_SHAPE = "{query: {document: number}}"
_STRINGS = JSONDecoder()
_SPACES = frozenset(" \t\n\r")
_VALUE = re.compile(r"-?[0-9][0-9.eE+-]*|NaN|-?Infinity|true|false|null")

Add = Callable[[int, str, str, str], None]


def load_qrels(file: Path, options: DatasetOptions, problems: Problems) -> Loaded:
    """A dataset from `{query: {document: grade}}`."""
    source = Source(file, problems)
    text = _Pairs(source, problems)
    judgements = Judgements(problems, text.place, options.grade_scale)
    text.read(judgements.add, judgements.add_empty)
    if not judgements.grades and not problems:
        source.refuse("no qrels in it")
    return judged_elsewhere(
        judgements.grades,
        options,
        kind="question",
        loader_version=LOADER_VERSION,
        revision=source.sha256,
        name=file.name,
    )


def load_run(file: Path, options: RankingOptions, problems: Problems) -> Ranking:
    """A ranking from `{query: {document: score}}`; ties as in TREC runs, an empty list is empty."""
    source = Source(file, problems)
    text = _Pairs(source, problems)
    lists = ScoredLists(problems, text.place)
    text.read(lists.add, lists.add_empty)
    ranking = lists.ranking(options, "json", file.name, source.sha256)
    if not ranking.answers and not problems:
        source.refuse("no ranking in it")
    return ranking


class _Pairs:
    """A scanner of one object of objects of numbers, which knows the line of every entry."""

    def __init__(self, source: Source, problems: Problems) -> None:
        self._source = source
        self._problems = problems
        self._text = source.text() or ""
        self._at = 0

    def place(self, offset: int) -> str:
        """Where an entry is."""
        return self._source.place(bisect_left(self._line_ends, offset) + 1)

    @cached_property
    def _line_ends(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self._text)]

    def read(self, add: Add, add_empty: Callable[[str], None]) -> None:
        """Hand over every entry; stops where the text is of another shape.

        Args:
            add: takes offset, query, document and number of an entry.
            add_empty: takes every query whose object is empty.
        """
        first_line = self._text.lstrip().partition("\n")[0]
        if not first_line:
            return
        place = self.place(len(self._text) - len(self._text.lstrip()))
        if refuse_another_form(self._source, self._problems, place, first_line, "json"):
            return
        seen: dict[str, int] = {}
        try:
            for start, query in self._keys():
                earlier = seen.setdefault(query, start)
                if earlier != start:
                    there = earlier_place(self.place(earlier), self.place(start))
                    what = f"query {query!r} stands in {there} already"
                    self._problems.add(self.place(start), what)
                is_empty = True
                for offset, document in self._keys():
                    add(offset, query, document, self._number())
                    is_empty = False
                if is_empty:
                    add_empty(query)
            if self._next():
                raise BadValueError("something follows the object")
        except (BadValueError, JSONDecodeError) as error:
            self._problems.add(self.place(self._at), f"not {_SHAPE}: {error}")

    def _keys(self) -> Iterator[tuple[int, str]]:
        """Offset and text of every key of the object that comes next; its value is read outside."""
        self._take("{")
        if self._next() == "}":
            self._at += 1
            return
        while True:
            start = self._at
            if self._next() != '"':
                raise BadValueError(f"expected a key in double quotes, found {self._next()!r}")
            key, self._at = _STRINGS.raw_decode(self._text, self._at)
            if lone_surrogate(key) is not None:
                raise BadValueError("half a surrogate pair, which is no character")
            self._take(":")
            yield start, key
            if self._next() == "}":
                self._at += 1
                return
            self._take(",")
            self._next()

    def _number(self) -> str:
        """The next number of the file, as it is spelled there."""
        if self._next() in {"{", "["}:
            command = f"jq .default.test {self._source.file} > {self._source.file}.test"
            self._problems.hints.append(command)
            raise BadValueError("it is nested deeper; take one level of it")
        found = _VALUE.match(self._text, self._at)
        if found is None:
            raise BadValueError(f"expected a number, found {self._next()!r}")
        self._at = found.end()
        return found[0]

    def _take(self, wanted: str) -> None:
        if (found := self._next()) != wanted:
            raise BadValueError(f"expected {wanted}, found {found or 'the end'}")
        self._at += 1

    def _next(self) -> str:
        """The next character that is no space; empty at the end."""
        while self._text[self._at : self._at + 1] in _SPACES:
            self._at += 1
        return self._text[self._at : self._at + 1]
