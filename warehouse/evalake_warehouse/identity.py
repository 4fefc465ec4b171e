"""Identity by content: canonical JSON, hashes, and time-ordered run ids."""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from collections.abc import Iterable, Mapping


def canonical_json(value: object) -> str:
    """One text for one value: keys sorted, no spaces, UTF-8, NaN refused."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def sha256_text(text: str) -> str:
    """Hex sha256 of the UTF-8 bytes. A lone surrogate is kept as its three bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def content_hash(value: object) -> str:
    """Hex sha256 of a value's canonical JSON."""
    return sha256_text(canonical_json(value))


def corpus_id(files: Mapping[str, str] | Iterable[tuple[str, str]]) -> str:
    """Hash of a corpus: sha256 over its (path, file sha256) pairs in path order."""
    pairs = sorted(files.items() if isinstance(files, Mapping) else files)
    digest = hashlib.sha256()
    for path, file_sha256 in pairs:
        digest.update(
            path.encode("utf-8", "surrogateescape") + b"\0" + file_sha256.encode() + b"\n"
        )
    return digest.hexdigest()


def task_seed(dataset: str, task_id: str) -> int:
    """A task's own number in [0, 2**63), from its name alone.

    Splits and bootstrap weights are keyed by it, so neither depends on which other
    tasks exist or in what order rows arrive.
    """
    digest = hashlib.sha256(f"{dataset}\0{task_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def new_run_id(*, after: str | None = None) -> str:
    """A UUID version 7: unique, and sorted by the millisecond it was made in (RFC 9562).

    Args:
        after: an earlier id. The new one is greater, also where the clock was set back since.
    """
    millis = time.time_ns() // 1_000_000
    if after is not None:
        millis = max(millis, (uuid.UUID(after).int >> 80) + 1)
    value = (millis & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))
