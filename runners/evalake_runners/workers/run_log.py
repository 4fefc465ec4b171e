"""What the workers of a run printed, kept beside the lake: scrubbed, and bounded in bytes."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from evalake_warehouse.errors import DiskFullError
from evalake_warehouse.scratch import replacing
from evalake_warehouse.scrub import scrub_lines
from evalake_warehouse.shown import shown

MAX_BYTES = 1_000_000  # of one run, the last ones
MAX_WORKER_BYTES = 250_000  # of one worker: as many of its first as of its last ones

_LEFT_OUT = "[{n} bytes left out]\n"


def log_file(home: Path, run_id: str) -> Path:
    """Where the output of a run's workers is, if they printed anything."""
    return home / "logs" / f"{run_id}.log"


def keep_output(log: Path, output: IO[bytes], worker: str) -> None:
    """Add what a worker printed to the log of its run. A log is a help: a full disk ends no run.

    Args:
        output: the file that the worker printed to.
        worker: names it in the log.
    """
    text = _shortened(output)
    if not text:
        return
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
    lines = scrub_lines(text.decode("utf-8", "replace").splitlines(keepends=True))
    added = shown("".join([f"== {worker}, ended {now} UTC\n", *lines]), lines=True)
    with suppress(OSError, DiskFullError):
        before = log.read_bytes() if log.is_file() else b""
        whole = before + added.rstrip("\n").encode() + b"\n"
        with replacing(log) as file:
            file.write(_last_lines(whole, MAX_BYTES))


def _shortened(output: IO[bytes]) -> bytes:
    """The first and the last lines of a file; of a line that is cut nothing is kept."""
    number = output.fileno()
    size = os.fstat(number).st_size
    if size <= MAX_WORKER_BYTES:
        return os.pread(number, MAX_WORKER_BYTES, 0)
    half = MAX_WORKER_BYTES // 2
    # A secret that is cut in two is not recognised.
    first = os.pread(number, half, 0)
    first = first[: first.rfind(b"\n") + 1]
    last = _last_lines(os.pread(number, half, size - half), half - 1)
    return first + _LEFT_OUT.format(n=size - len(first) - len(last)).encode() + last


def _last_lines(text: bytes, n_bytes: int) -> bytes:
    """The whole lines among the last bytes of a text."""
    if len(text) <= n_bytes:
        return text
    cut = text[-n_bytes:]
    start = cut.find(b"\n") + 1
    return cut[start:] if start else b""
