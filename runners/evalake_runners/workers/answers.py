"""What a worker sends back for one task: plain values only, checked, cut and cleaned.

A system may answer anything. Whatever is wrong with an answer is an error of that one task,
found in the worker, where the system's own objects live.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from evalake_runners.adapters.protocol import Answer, IndexReport, RawHit, Spending
from evalake_runners.workers import fields
from evalake_runners.workers.paths import RESOLVED, UNRESOLVED, PathResolver
from evalake_runners.workers.redact import short_reason
from evalake_warehouse.scrub import scrub, scrub_evidence
from evalake_warehouse.secrets import known_secrets

# item_id, score, raw_path, path, path_status, start_line, end_line, qualified_name, doc_id,
# title, text, reason, branch
PackedHit = tuple[
    str, float | None, str | None, str | None, str | None, int | None, int | None, str | None,
    str | None, str | None, str | None, str | None, str | None,
]  # fmt: skip

_IN_OWN_WORDS = frozenset({9, 11})  # title and reason; the rest is evidence
MAX_CALL_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class PackedAnswer:
    """One answer on its way to the lake."""

    hits: tuple[PackedHit, ...]
    payload_bytes: int | None
    payload: str | None  # raw answer, which the lake keeps by its hash
    reason: str | None  # why there is no hit
    call: str | None
    resolved_library: str | None
    n_tool_calls: int | None
    cost_usd: float | None
    covered: bool | None
    phase_seconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PackedSpending:
    """What a search took that brought no answer."""

    n_tool_calls: int | None
    cost_usd: float | None
    phase_seconds: Mapping[str, float]
    is_cold: bool


def pack_spending(spending: Spending | Answer, *, is_cold: bool) -> PackedSpending:
    """Make plain what a search took."""
    return PackedSpending(
        n_tool_calls=fields.optional_count(spending.n_tool_calls, "n_tool_calls"),
        cost_usd=fields.optional_cost(spending.cost_usd),
        phase_seconds=fields.seconds_by_phase(spending.phase_seconds),
        is_cold=is_cold,
    )


def pack_report(report: object) -> IndexReport:
    """Check an index report and make it plain.

    Raises:
        TypeError: it is not an `IndexReport`, or a field has another type.
        ValueError: a count is out of bounds.
    """
    if not isinstance(report, IndexReport):
        raise TypeError(f"index returned {type(report).__name__}, not IndexReport")
    return IndexReport(
        n_chunks=fields.optional_count(report.n_chunks, "n_chunks"),
        n_vectors=fields.optional_count(report.n_vectors, "n_vectors"),
        counts=fields.counts(report.counts),
        device=fields.optional_text(report.device, "device"),
    )


def pack_answer(answer: object, *, depth: int, resolver: PathResolver | None) -> PackedAnswer:
    """Check an answer and make it plain.

    Args:
        resolver: of a files corpus; None where hits have doc ids, not paths.

    Raises:
        TypeError: it is not an `Answer` of `RawHit`s, or a field has another type.
        ValueError: a number is out of bounds.
    """
    if not isinstance(answer, Answer):
        raise TypeError(f"search returned {type(answer).__name__}, not Answer")
    # Some services ignore the depth. Cut here, so that no metric sees more than was asked for.
    hits = _scrubbed(tuple(_pack_hit(hit, resolver) for hit in islice(answer.hits[:depth], depth)))
    payload = pack_payload(answer.payload)
    n_bytes = fields.optional_count(answer.n_bytes, "n_bytes")
    if n_bytes is None:
        n_bytes = _size(hits) if payload is None else len(payload.encode())
    reason = fields.optional_text(answer.reason, "reason")
    return PackedAnswer(
        hits=hits,
        payload_bytes=n_bytes,
        payload=payload,
        reason=None if hits or reason is None else short_reason(reason),
        call=pack_call(answer.call),
        resolved_library=fields.optional_text(answer.resolved_library, "resolved_library"),
        n_tool_calls=fields.optional_count(answer.n_tool_calls, "n_tool_calls"),
        cost_usd=fields.optional_cost(answer.cost_usd),
        covered=fields.optional_bool(answer.covered, "covered"),
        phase_seconds=fields.seconds_by_phase(answer.phase_seconds),
    )


def pack_payload(payload: object) -> str | None:
    """A raw answer without the secrets that only this process may know."""
    told = fields.optional_text(payload, "payload")
    return None if told is None else scrub_evidence(told)


def pack_call(call: object) -> str | None:
    """A command or a tool call, scrubbed and cut."""
    told = fields.optional_text(call, "call")
    return None if told is None else scrub(told)[:MAX_CALL_CHARS]


def _pack_hit(hit: Any, resolver: PathResolver | None) -> PackedHit:
    if not isinstance(hit, RawHit):
        raise TypeError(f"a hit is {type(hit).__name__}, not RawHit")
    raw = fields.optional_text(hit.raw_path, "raw_path")
    path = status = None
    if raw is not None and resolver is not None:
        path = resolver.resolve(raw)
        status = UNRESOLVED if path is None else RESOLVED
    start = fields.line(hit.start_line, "start_line")
    end = fields.line(hit.end_line, "end_line")
    name = fields.optional_text(hit.qualified_name, "qualified_name")
    doc_id = fields.optional_text(hit.doc_id, "doc_id")
    text = fields.optional_text(hit.text, "text")
    item = fields.optional_text(hit.item_id, "item_id") or doc_id
    if item is None and (where := path or raw) is not None:
        item = where if start is None else f"{where}:{start}-{end or start}"
    if item is None:
        item = name or _text_id(text)
    return (
        item, fields.score(hit.score), raw, path, status, start, end, name, doc_id,
        fields.optional_text(hit.title, "title"), text, fields.optional_text(hit.reason, "reason"),
        fields.optional_text(hit.branch, "branch"),
    )  # fmt: skip


def _scrubbed(hits: tuple[PackedHit, ...]) -> tuple[PackedHit, ...]:
    """The hits without secrets that only this process may know; before a text gets its hash."""
    told = "\n".join(value for hit in hits for value in hit if isinstance(value, str))
    if not any(secret in told for secret in known_secrets().all):
        return hits
    return tuple(tuple(_scrub_field(at, value) for at, value in enumerate(hit)) for hit in hits)


def _scrub_field(at: int, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return scrub(value) if at in _IN_OWN_WORDS else scrub_evidence(value)


def _text_id(text: str | None) -> str:
    if text is None:
        raise TypeError("a hit has neither id, path, name, doc id nor text")
    return "text:" + hashlib.sha256(text.encode()).hexdigest()[:16]


def _size(hits: Sequence[PackedHit]) -> int | None:
    """Bytes of the hits' texts: what a reader of the answer would have to take in."""
    texts = [hit[10] for hit in hits if hit[10] is not None]
    return sum(len(text.encode()) for text in texts) if texts else None
