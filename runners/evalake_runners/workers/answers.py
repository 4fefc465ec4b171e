"""What a worker sends back for one task: plain values only, checked, cut and cleaned.

A system may answer anything. Whatever is wrong with an answer is an error of that one task,
found in the worker, where the system's own objects live.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from evalake_runners.adapters.protocol import Answer, IndexReport, Spending
from evalake_runners.workers import fields
from evalake_runners.workers.packed_hits import PackedHit, pack_hits
from evalake_runners.workers.paths import PathResolver
from evalake_runners.workers.redact import short_reason
from evalake_warehouse.scrub import scrub, scrub_evidence

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
    hits = pack_hits(islice(answer.hits[:depth], depth), resolver)
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


def _size(hits: Sequence[PackedHit]) -> int | None:
    """Bytes of the hits' texts: what a reader of the answer would have to take in."""
    texts = [hit.text for hit in hits if hit.text is not None]
    return sum(len(text.encode()) for text in texts) if texts else None
