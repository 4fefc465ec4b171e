"""Write a run's evidence: events, index rows, and shards of finished tasks."""

from __future__ import annotations

import sys
import time
import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from evalake_runners.engine.indexes import IndexOutcome
from evalake_runners.workers.answers import PackedAnswer, PackedSpending
from evalake_runners.workers.packed_hits import hit_columns
from evalake_warehouse.identity import canonical_json, sha256_text
from evalake_warehouse.lake.arrivals import next_id
from evalake_warehouse.lake.schemas import TABLES
from evalake_warehouse.lake.writer import write_columns, write_rows
from evalake_warehouse.vocabulary import AttemptStatus

SHARD_TASKS = 100  # fewer would leave thousands of small files behind
SHARD_SECONDS = 5.0
SHARD_BYTES = 16 * 2**20  # writing takes several times as much again
MAX_SHARD_SECONDS = 300.0  # a slow or paid system must not lose more to a kill than this

# Attempts last: their rows are the commit mark of everything written before them.
_ORDER = ("texts", "hits", "timings", "attempts")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one try at one task."""

    task_id: str
    attempt: int
    status: AttemptStatus
    started_at: datetime
    n_concurrent: int
    answer: PackedAnswer | None = None
    spending: PackedSpending | None = None  # of a try without an answer
    reason: str | None = None
    payload: str | None = None  # raw answer of a try whose answer could not be read
    call: str | None = None
    seconds: Mapping[tuple[str, str], float] = field(default_factory=dict)  # (phase, temperature)

    @property
    def paid(self) -> PackedAnswer | PackedSpending | None:
        """Where the cost and the calls of the try are."""
        return self.answer or self.spending


def utc_now() -> datetime:
    """The time as the lake keeps it: UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None)


class RunRecorder:
    """The only writer of one run's files."""

    def __init__(
        self,
        lake: Path,
        *,
        dataset: str,
        edition: str,
        run_id: str,
        next_part: int,
        known_texts: set[str],
    ) -> None:
        self._lake = lake
        self._dataset = dataset
        self._edition = edition
        self._run_id = run_id
        self._part = next_part
        self._known_texts = known_texts
        # A run that lasts past midnight stays in one folder.
        self._day: date = utc_now().date()
        self._last_write = time.monotonic()
        self.pending: Counter[str] = Counter()  # statuses of the tasks that are not on disk yet
        self.pending_bytes = 0  # of memory that their texts take
        self._columns: dict[str, dict[str, list[Any]]] = {}
        self._new_texts: set[str] = set()
        self._clear()

    def event(self, row: Mapping[str, Any]) -> None:
        """Write a started, joined or finished row of the `runs` table."""
        stem = f"{self._run_id}-{row['event']}"
        if row["event"] == "finished":  # a resumed run finishes more than once
            stem = f"{stem}-{self._part:04d}"
        elif row["event"] == "joined":  # as often as there are families
            stem = f"{stem}-{uuid.uuid4().hex[:8]}"
        self._write_rows("runs", [{**row, "arrival_id": self._arrive()}], stem)

    def index_event(self, corpus_id: str, ingestion_hash: str, outcome: IndexOutcome) -> None:
        """Write one row about one corpus."""
        row = {
            "dataset": self._dataset,
            "run_id": self._run_id,
            "corpus_id": corpus_id,
            "ingestion_hash": ingestion_hash,
            "status": outcome.status,
            "cache_hit": outcome.cache_hit,
            "at": utc_now(),
            "counts_json": canonical_json(dict(outcome.report.counts)),
            "seconds": outcome.seconds,
            "bytes_on_disk": outcome.bytes_on_disk,
            "n_chunks": outcome.report.n_chunks,
            "n_vectors": outcome.report.n_vectors,
            "reason": outcome.reason,
            "arrival_id": self._arrive(),
        }
        self._write_rows("index_events", [row], f"{self._run_id}-{self._part:04d}")
        self._part += 1

    def look(self, row: Mapping[str, Any]) -> None:
        """Write one row about a use of the test tail."""
        self._write_rows("looks", [row], f"{self._run_id}-{self._part:04d}")
        self._part += 1

    def add(self, outcome: Outcome) -> None:
        """Take one finished task; it is on disk after the next shard."""
        answer = outcome.answer
        if answer is not None and answer.hits:
            self._add_hits(outcome.task_id, outcome.attempt, answer)
        self._add_timings(outcome)
        self._add_attempt(outcome)  # a raw answer that is one hit's text is stored as that hit's
        self.pending[outcome.status] += 1
        waited = time.monotonic() - self._last_write
        is_full = self.pending.total() >= SHARD_TASKS and waited >= SHARD_SECONDS
        if is_full or waited >= MAX_SHARD_SECONDS or self.pending_bytes >= SHARD_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what is pending as one shard."""
        if self.pending:
            self._write_shard(f"{self._run_id}-{self._part:04d}")
            self._known_texts |= self._new_texts
            self._part += 1
            self._clear()
        self._last_write = time.monotonic()

    def _write_shard(self, stem: str) -> None:
        written: list[Path] = []
        try:
            for table in _ORDER:
                path = write_columns(
                    self._lake,
                    table,
                    self._columns[table],
                    dataset=self._dataset,
                    run_date=self._day,
                    stem=stem,
                )
                written += [path] if path else []
        except BaseException:
            # The mark of the shard first: what is left then counts for nothing, and the shard can
            # be written again.
            for path in reversed(written):
                path.unlink(missing_ok=True)
            raise

    def _arrive(self) -> str:
        """An event's place in the order in which things arrive in the lake."""
        return next_id(self._lake.parent)

    def _clear(self) -> None:
        self._columns = {
            table: {name: [] for name in TABLES[table].schema.names} for table in _ORDER
        }
        self._new_texts = set()
        self.pending = Counter()
        self.pending_bytes = 0

    def _add_attempt(self, outcome: Outcome) -> None:
        answer, paid = outcome.answer, outcome.paid
        payload = answer.payload if answer else outcome.payload
        size = answer.payload_bytes if answer else None
        if size is None and payload is not None:
            size = len(payload.encode())
        self._append(
            "attempts",
            {
                "dataset": self._dataset,
                "edition": self._edition,
                "run_id": self._run_id,
                "task_id": outcome.task_id,
                "attempt": outcome.attempt,
                "status": outcome.status,
                "n_hits": len(answer.hits) if answer else 0,
                "n_concurrent": outcome.n_concurrent,
                "started_at": outcome.started_at,
                "reason": outcome.reason,
                "payload_bytes": size,
                "payload_sha256": self._text(payload, "answer"),
                "call": answer.call if answer else outcome.call,
                "resolved_library": answer.resolved_library if answer else None,
                "n_tool_calls": paid.n_tool_calls if paid else None,
                "cost_usd": paid.cost_usd if paid else None,
                "covered": answer.covered if answer else None,
            },
        )

    def _add_timings(self, outcome: Outcome) -> None:
        for (phase, temperature), seconds in outcome.seconds.items():
            self._append(
                "timings",
                {
                    "dataset": self._dataset,
                    "run_id": self._run_id,
                    "task_id": outcome.task_id,
                    "attempt": outcome.attempt,
                    "phase": phase,
                    "temperature": temperature,
                    "repeat": 1,
                    "seconds": seconds,
                },
            )

    def _add_hits(self, task_id: str, attempt: int, answer: PackedAnswer) -> None:
        columns = self._columns["hits"]
        n = len(answer.hits)
        columns["dataset"] += [self._dataset] * n
        columns["run_id"] += [self._run_id] * n
        columns["task_id"] += [task_id] * n
        columns["attempt"] += [attempt] * n
        columns["rank"] += range(1, n + 1)
        said = hit_columns(answer.hits)
        columns["text_sha256"] += [self._text(text) for text in said.pop("text")]
        for name, values in said.items():
            columns[name] += values
            self.pending_bytes += sum(map(sys.getsizeof, values))

    def _text(self, text: str | None, origin: str = "hit") -> str | None:
        """Hash of a text, which is stored once per dataset."""
        if text is None:
            return None
        digest = sha256_text(text)
        if digest not in self._known_texts and digest not in self._new_texts:
            self._new_texts.add(digest)
            self.pending_bytes += sys.getsizeof(text)
            self._append(
                "texts",
                {
                    "dataset": self._dataset,
                    "text_sha256": digest,
                    "text": text,
                    "origin": origin,
                    "corpus_id": None,
                },
            )
        return digest

    def _append(self, table: str, row: Mapping[str, Any]) -> None:
        columns = self._columns[table]
        for name, value in row.items():
            columns[name].append(value)

    def _write_rows(self, table: str, rows: list[Mapping[str, Any]], stem: str) -> None:
        write_rows(self._lake, table, rows, dataset=self._dataset, run_date=self._day, stem=stem)
