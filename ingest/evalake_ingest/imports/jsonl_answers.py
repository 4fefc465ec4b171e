"""Answers of a system in the documented JSON Lines schema: any kind of hit, best first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from evalake_ingest.imports.options import RankingOptions
from evalake_ingest.originals.line_schema import AnswerLine, HitLine, checked_lines
from evalake_ingest.originals.problems import Problems
from evalake_ingest.originals.source_files import Source
from evalake_ingest.rankings.answers import ImportedAnswer, ImportedHit, Ranking
from evalake_warehouse.identity import content_hash


def load_answers(
    file: Path, options: RankingOptions, problems: Problems, *, names: Mapping[str, str]
) -> Ranking:
    """A ranking from a file of answers, one line per task, hits best first.

    Args:
        names: the file's own name of a key, by the name that it has here.
    """
    source = Source(file, problems)
    answers: dict[str, ImportedAnswer] = {}
    first: dict[str, int] = {}
    for number, line in checked_lines(source, AnswerLine, problems, names=names):
        where = source.place(number)
        earlier = first.setdefault(line.task_id, number)
        if earlier != number:
            what = f"a second answer to task {line.task_id!r}, which line {earlier} answers"
            problems.add(where, what)
        _check_hits(line, where, problems)
        answers[line.task_id] = ImportedAnswer(
            hits=[_hit(hit) for hit in line.hits],
            status=line.status,
            reason=line.reason,
            seconds=line.seconds,
            cost_usd=line.cost_usd,
        )
    if not answers and not problems:
        source.refuse("no answers in it")
    return Ranking(
        label=options.label,
        source_format="jsonl",
        source_name=file.name,
        source_sha256=source.sha256,
        answers=answers,
        depth=options.depth,
        unanswered=options.unanswered,
        orders=tuple(_orders(answers.values())),
    )


def _check_hits(line: AnswerLine, where: str, problems: Problems) -> None:
    documents: dict[str, int] = {}
    for index, hit in enumerate(line.hits):
        if _item_id(hit) is None:
            what = f"`hits.{index}` names nothing: give path, qualified_name, doc_id or text"
            problems.add(where, what)
        # A document may come back in several passages, which differ in their text or place.
        named = hit.model_dump(exclude_none=True, exclude={"score", "title"})
        if hit.doc_id is not None and named.keys() == {"doc_id"}:
            earlier = documents.setdefault(hit.doc_id, index)
            if earlier != index:
                what = f"`hits.{index}`: document {hit.doc_id!r} is `hits.{earlier}` already"
                problems.add(where, what)


def _orders(answers: Iterable[ImportedAnswer]) -> Iterator[list[tuple[int, float]]]:
    """(rank, score) of the answers that score each of their hits."""
    for answer in answers:
        told = [(rank, hit.score) for rank, hit in enumerate(answer.hits, 1)]
        scored = [(rank, score) for rank, score in told if score is not None]
        if len(scored) == len(told):
            yield scored


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
