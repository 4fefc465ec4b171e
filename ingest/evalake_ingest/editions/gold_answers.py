"""What a perfect system would answer: the hits of the `gold` control."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from evalake_ingest.corpora.store import load_symbols, open_corpus
from evalake_ingest.corpora.symbols import decode_source
from evalake_ingest.names import fetch_hint
from evalake_ingest.publish import find_lake_file
from evalake_warehouse.errors import UsageError
from evalake_warehouse.project import Project
from evalake_warehouse.vocabulary import RELEVANT_ROLES

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class GoldHit:
    """A perfect hit: every field that its gold item can be matched by."""

    item_id: str
    path: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    qualified_name: str | None = None
    doc_id: str | None = None
    text: str | None = None


@dataclass
class GoldTexts:
    """Texts that perfect hits carry: of gold text by its hash, of code by its fingerprint."""

    by_sha256: Mapping[str, str] = field(default_factory=dict)
    by_fingerprint: Mapping[str, str] = field(default_factory=dict)


def gold_hits(
    gold: Iterable[Row],
    qrels: Iterable[Row],
    *,
    level: str,
    texts: GoldTexts | None = None,
    relation: str | None = None,
) -> list[GoldHit]:
    """Perfect hits of one task at one level, best first: one for each relevant gold item.

    Of two nested definitions the inner one comes first: its lines lie in the outer one's too.

    Args:
        gold: the task's rows of lake table `gold`.
        qrels: the task's rows of lake table `qrels`.
        relation: tell each hit by this relation alone; items without it have no hit.
    """
    known = texts or GoldTexts()
    by_item: defaultdict[str, list[Row]] = defaultdict(list)
    for qrel in qrels:
        if relation is None or qrel["relation"] == relation:
            by_item[qrel["gold_id"]].append(qrel)
    wanted = [
        item
        for item in gold
        if item["level"] == level and item["grade"] >= 1 and item["role"] in RELEVANT_ROLES
        and by_item[item["gold_id"]]
    ]  # fmt: skip
    wanted.sort(key=lambda item: (-item["grade"], _span(by_item[item["gold_id"]]), item["gold_id"]))
    return [_hit(item["gold_id"], by_item[item["gold_id"]], known) for item in wanted]


def load_gold_hits(
    project: Project, dataset: str, edition: str, *, relation: str | None = None
) -> dict[str, list[GoldHit]]:
    """Perfect hits of every task of an edition, at the dataset's primary level.

    Raises:
        UsageError: the lake has no such edition.
    """
    tables = {
        name: _read(project.lake, name, dataset, edition)
        for name in ("datasets", "tasks", "gold", "qrels", "texts")
    }
    if not tables["datasets"]:
        hint = fetch_hint(project, dataset)
        raise UsageError(f"no edition {edition} of {dataset}", hint=hint)
    level = tables["datasets"][0]["primary_level"]
    by_sha256 = {row["text_sha256"]: row["text"] for row in tables["texts"]}
    gold, qrels = _by_task(tables["gold"]), _by_task(tables["qrels"])
    sources: dict[str, Mapping[str, str]] = {}
    hits: dict[str, list[GoldHit]] = {}
    for task in tables["tasks"]:
        task_id, corpus_id = task["task_id"], task["corpus_id"]
        told = qrels[task_id]
        if any(row["relation"] == "fingerprint" for row in told) and corpus_id not in sources:
            wanted = {row["key"] for row in tables["qrels"] if row["relation"] == "fingerprint"}
            sources[corpus_id] = read_definitions(project, corpus_id, wanted)
        texts = GoldTexts(by_sha256, sources.get(corpus_id, {}))
        hits[task_id] = gold_hits(gold[task_id], told, level=level, texts=texts, relation=relation)
    return hits


def read_definitions(project: Project, corpus_id: str, wanted: set[str]) -> dict[str, str]:
    """Source text of some definitions of a corpus, by fingerprint."""
    root = open_corpus(project, corpus_id).root
    texts: dict[str, str] = {}
    for symbol in load_symbols(project, corpus_id):
        if symbol.fingerprint in wanted and symbol.fingerprint not in texts:
            source = decode_source((root / symbol.path).read_bytes())
            lines = source.splitlines()[symbol.start_line - 1 : symbol.end_line]
            texts[symbol.fingerprint] = "\n".join(lines)
    return texts


def _hit(gold_id: str, qrels: Sequence[Row], texts: GoldTexts) -> GoldHit:
    path = next((row for row in qrels if row["path"] is not None), None)
    text = None
    for row in qrels:
        if row["relation"] == "text":
            text = texts.by_sha256.get(row["key"])
        elif row["relation"] == "fingerprint" and text is None:
            text = texts.by_fingerprint.get(row["key"])
    return GoldHit(
        item_id=gold_id,
        path=path["path"] if path else None,
        start_line=path["start_line"] if path else None,
        end_line=path["end_line"] if path else None,
        qualified_name=_key(qrels, "symbol"),
        doc_id=_key(qrels, "doc_id"),
        text=text,
    )


def _key(qrels: Sequence[Row], relation: str) -> str | None:
    return next((row["key"] for row in qrels if row["relation"] == relation and row["key"]), None)


def _span(qrels: Sequence[Row]) -> int:
    spans = [row["end_line"] - row["start_line"] for row in qrels if row["start_line"] is not None]
    return min(spans, default=0)


def _by_task(rows: Iterable[Row]) -> defaultdict[str, list[Row]]:
    grouped: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row["task_id"]].append(row)
    return grouped


def _read(lake: Path, table: str, dataset: str, edition: str) -> list[dict[str, Any]]:
    file = find_lake_file(lake, table, dataset, edition)
    return pq.ParquetFile(file).read().to_pylist() if file else []
