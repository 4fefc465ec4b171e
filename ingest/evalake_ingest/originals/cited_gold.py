"""Gold from the files that a prose answer cites, and the rows that give none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalake_ingest.originals.citations import Citation, CitedPaths, Resolution, find_citations
from evalake_ingest.records import Drop, DropReason, GoldItem, Qrel


@dataclass(frozen=True)
class CitedFiles:
    """File-level gold of one answer, and the citations that name no file of the corpus."""

    gold: tuple[GoldItem, ...]
    lost: tuple[tuple[Citation, Resolution], ...]
    found: tuple[tuple[Citation, str], ...]
    is_null: bool = False

    def drops(self, source_row: str, task_id: str) -> Iterator[Drop]:
        """Ambiguous names of a kept row, one by one; of a row without gold, why it has none."""
        ambiguous = [one for one, meant in self.lost if meant.status == "ambiguous"]
        if self.gold:
            seen = dict.fromkeys(one.path for one in ambiguous)
            yield from (Drop(source_row, "ambiguous_basename", task_id, path) for path in seen)
        elif self.is_null:
            yield Drop(source_row, "null_answer", task_id)
        elif not self.lost:
            yield Drop(source_row, "no_citation", task_id)
        else:
            left_out = any(meant.status == "left_out" for _, meant in self.lost)
            reason: DropReason = "file_left_out" if left_out else "unresolved_citation"
            reason = "ambiguous_basename" if ambiguous else reason
            told = ", ".join(dict.fromkeys(one.path for one, _ in self.lost))
            yield Drop(source_row, reason, task_id, told)


def cite_files(answer: str | None, paths: CitedPaths) -> CitedFiles:
    """File-level gold from the files that an answer cites."""
    if answer is None or not answer.strip():
        return CitedFiles((), (), (), is_null=True)
    resolved = [(one, paths.resolve(one.path)) for one in find_citations(answer)]
    found = [(one, meant.path) for one, meant in resolved if meant.path is not None]
    first: dict[str, Citation] = {}
    for one, path in found:
        first.setdefault(path, one)
    gold = tuple(
        GoldItem(
            gold_id=path,
            level="file",
            qrels=(Qrel("file", path=path),),
            truth_method="cited in the answer",
            evidence=one.written,
        )
        for path, one in sorted(first.items())
    )
    # A bare name that the same answer also gives in full is no loss.
    known = {path.rpartition("/")[2] for path in first}
    lost = tuple(
        (one, meant)
        for one, meant in resolved
        if meant.path is None and one.path.rpartition("/")[2] not in known
    )
    return CitedFiles(gold, lost, tuple(found))


def question_type(text: str) -> str | None:
    """what, where, how or why: by the first word."""
    first = text.split(maxsplit=1)[0].strip("\"'*`:,").lower() if text.strip() else ""
    return first if first in {"what", "where", "how", "why"} else None
