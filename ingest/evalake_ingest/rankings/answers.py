"""A ranking that was made elsewhere: what a system answered to each task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Unanswered = Literal["not_attempted", "empty"]


@dataclass(frozen=True, slots=True)
class ImportedHit:
    """One retrieved item; its rank is its place in the list."""

    item_id: str
    score: float | None = None
    path: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    qualified_name: str | None = None
    doc_id: str | None = None
    title: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ImportedAnswer:
    """What a system answered to one task."""

    hits: Sequence[ImportedHit] = ()
    status: str | None = None  # None: ok with hits, empty without
    reason: str | None = None
    seconds: float | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """All answers of one system, and where they come from."""

    label: str
    source_format: str  # trec | json | jsonl
    source_name: str  # file name, without its folder
    source_sha256: str  # of its content, unpacked
    answers: Mapping[str, ImportedAnswer]
    system: str = "imported"
    system_version: str = "unknown"
    depth: int | None = None  # None: the longest list
    unanswered: Unanswered = "not_attempted"
    note: str | None = None
    # (rank, score) of each list whose file tells both; ranks of TREC runs come from the scores.
    orders: Sequence[Sequence[tuple[int, float]]] = ()
