"""One text of a ranked answer, of at most so many bytes: what an agent with a budget would read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evalake_runners.adapters.protocol import Answer, RawHit
from evalake_runners.workers.redact import clean
from evalake_warehouse.errors import SystemFailedError

# Raised when the same hits would give another text: such arms are other arms.
BLOB_RULE = 1
SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True)
class Blob:
    """The shape of an arm's output where it is one text."""

    max_bytes: int  # of UTF-8
    n_hits: int  # asked of the system

    def identity(self) -> Mapping[str, int]:
        """The blob's shape, as the arm's hash and recorded configuration hold it."""
        return {"bytes": self.max_bytes, "hits": self.n_hits, "rule": BLOB_RULE}


def as_blob(answer: Answer, blob: Blob) -> Answer:
    """The answer with one hit instead of many, or none where no hit holds a word.

    Texts stand best first, a blank line between them. They are whole as long as they fit; the
    first that does not is cut at the last character that does, and nothing follows it.

    Raises:
        SystemFailedError: a hit has no text, so that a score of 0 would say nothing.
    """
    hits = answer.hits[: blob.n_hits]
    used, text, is_cut = _join(hits, blob.max_bytes)
    if not text:
        return replace(answer, hits=(), payload=answer.payload or "", n_bytes=0)
    branches = {hit.branch for hit in used}
    n_whole = len(used) - is_cut
    hit = RawHit(
        item_id="blob",
        text=text,
        reason=f"{n_whole} whole, {int(is_cut)} cut, {len(hits) - len(used)} left out",
        branch=branches.pop() if len(branches) == 1 else None,
    )
    # The raw answer stays, where there is one: it is what another parser would read.
    payload = text if answer.payload is None else answer.payload
    return replace(answer, hits=(hit,), payload=payload, n_bytes=len(text.encode()))


def _join(hits: Sequence[RawHit], max_bytes: int) -> tuple[list[RawHit], str, bool]:
    """The hits that have a place in the text, the text, and whether the last of them was cut."""
    texts = [_text(hit, rank) for rank, hit in enumerate(hits, start=1)]
    used: list[RawHit] = []
    parts: list[str] = []
    left = max_bytes
    for hit, text in zip(hits, texts, strict=True):
        if not text.strip():
            continue
        part = (SEPARATOR if parts else "") + text
        encoded = part.encode()
        if len(encoded) <= left:
            used.append(hit)
            parts.append(part)
            left -= len(encoded)
            continue
        beginning = encoded[:left].decode(errors="ignore")
        if beginning.strip():
            return [*used, hit], "".join([*parts, beginning]), True
        break
    return used, "".join(parts), False


def _text(hit: Any, rank: int) -> str:
    if not isinstance(hit, RawHit):
        raise TypeError(f"a hit is {type(hit).__name__}, not RawHit")
    if hit.text is None:
        raise SystemFailedError(f"hit {rank} has no text, so `blob_bytes` has nothing to join")
    if not isinstance(hit.text, str):
        raise TypeError(f"text is {type(hit.text).__name__}, not str")
    return clean(hit.text)
