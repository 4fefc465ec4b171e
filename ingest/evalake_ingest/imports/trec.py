"""TREC qrels and run files, read the way trec_eval reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from evalake_ingest.imports.judged import judged_elsewhere
from evalake_ingest.imports.options import DatasetOptions, RankingOptions
from evalake_ingest.imports.pairs import Judgements, ScoredLists
from evalake_ingest.originals.formats import refuse_another_form
from evalake_ingest.originals.problems import Problems
from evalake_ingest.originals.source_files import Source
from evalake_ingest.rankings.answers import Ranking
from evalake_ingest.records import Loaded

LOADER_VERSION = "trec-2"

# As isspace() in C: a no-break space, or U+3000, is a part of an id.
_FIELD = re.compile(r"[^ \t\n\r\v\f]+")
_QRELS, _RUN = (
    ("topic", "iteration", "doc", "grade"),
    ("topic", "Q0", "doc", "rank", "score", "tag"),
)


def load_qrels(file: Path, options: DatasetOptions, problems: Problems) -> Loaded:
    """A dataset from lines of `topic iteration doc grade`; topics are its tasks."""
    source = Source(file, problems)
    judgements = Judgements(problems, source.place, options.grade_scale)
    for number, fields in _fields(source, _QRELS, problems, may_go_on=False):
        judgements.add(number, fields[0], fields[2], fields[3])
    if not judgements.grades and not problems:
        source.refuse("no qrels in it")
    return judged_elsewhere(
        judgements.grades,
        options,
        kind="topic",
        loader_version=LOADER_VERSION,
        revision=source.sha256,
        name=file.name,
    )


def load_run(file: Path, options: RankingOptions, problems: Problems) -> Ranking:
    """A ranking from lines of `topic Q0 doc rank score tag`.

    Ranks are made from the scores: compared as 32-bit floats, ties by doc id descending. Whatever
    follows the tag is passed over.
    """
    source = Source(file, problems)
    lists = ScoredLists(problems, source.place)
    for number, fields in _fields(source, _RUN, problems, may_go_on=True):
        lists.add(number, fields[0], fields[2], fields[4], rank=fields[3])
    ranking = lists.ranking(options, "trec", file.name, source.sha256)
    if not ranking.answers and not problems:
        source.refuse("no ranking in it")
    return ranking


def _fields(
    source: Source, names: tuple[str, ...], problems: Problems, *, may_go_on: bool
) -> Iterator[tuple[int, list[str]]]:
    is_first = True
    for number, line in source.lines():
        if is_first and refuse_another_form(source, problems, source.place(number), line, "trec"):
            return
        is_first = False
        fields = _FIELD.findall(line)
        if len(fields) == len(names) or (may_go_on and len(fields) > len(names)):
            yield number, fields
        elif fields:
            what = f"{len(fields)} fields; expected: {' '.join(names)}"
            problems.add(source.place(number), what)
