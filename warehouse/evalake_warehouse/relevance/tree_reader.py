"""Read definitions of untrusted files in a process of its own, which may die of one of them.

A tree-sitter parser is native code whose time and memory an input can make grow without end. The
process has a limit on both; a file that breaks one is `too_costly`, and the next file gets a new
process.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from threading import Timer
from types import TracebackType
from typing import IO

from evalake_warehouse.processes import die_with
from evalake_warehouse.relevance.tree_definitions import TreeDefinition, TreeRead, read_tree

MAX_SECONDS = 30.0  # a file of a million bytes takes about two
_TRIES = 2  # its process may have been killed by something else
_END_SECONDS = 3.0
_MAX_MEMORY = 1_000_000_000  # the same file takes 500 MB


class TreeReader:
    """Reads one file at a time; the process starts with the first one."""

    def __init__(self, *, max_seconds: float = MAX_SECONDS) -> None:
        self._max_seconds = max_seconds
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> TreeReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def read(self, language: str, content: bytes) -> TreeRead:
        """Definitions of one file; never raises for what is in it."""
        for _ in range(_TRIES):
            process = self._started()
            timer = Timer(self._max_seconds, process.kill)
            timer.start()
            try:
                answer = _ask(process, language, content)
            except OSError:  # it died while it was asked
                answer = None
            finally:
                is_late = not timer.is_alive()
                timer.cancel()
            if answer is not None:
                return answer
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_END_SECONDS)
            was_killed = process.returncode == -signal.SIGKILL and not is_late
            self.close()
            if not was_killed:
                break
        limit = f"{self._max_seconds:g} seconds" if is_late else f"{_MAX_MEMORY:,} bytes of memory"
        return TreeRead("too_costly", detail=f"parsing took more than {limit}, or broke the parser")

    def close(self) -> None:
        """End the process."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was not sent has nowhere to go
                    pipe.close()
        self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = [sys.executable, "-c", f"from {__name__} import serve; serve({os.getpid()})"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        return self._process


def _ask(process: subprocess.Popen[bytes], language: str, content: bytes) -> TreeRead | None:
    """The answer to one file; None where the process ended without one."""
    if process.stdin is None or process.stdout is None:
        raise AssertionError("both ends are pipes")
    process.stdin.write(f"{language} {len(content)}\n".encode())
    process.stdin.write(content)
    process.stdin.flush()
    line = process.stdout.readline()
    if not line.endswith(b"\n"):
        return None
    status, detail, rows = json.loads(line)
    return TreeRead(status, tuple(TreeDefinition(*row) for row in rows), detail)


def serve(parent: int) -> None:
    """Answer on standard output what standard input asks, until that or the parent ends."""
    die_with(parent)
    _limit()
    source, target = sys.stdin.buffer, sys.stdout.buffer
    while header := source.readline():
        language, size = header.split()
        _answer(target, language.decode(), source.read(int(size)))


def _answer(target: IO[bytes], language: str, content: bytes) -> None:
    try:
        read = read_tree(language, content)
    except (MemoryError, RecursionError) as error:
        read = TreeRead("too_costly", detail=f"parsing ended with {type(error).__name__}")
    rows = [
        (one.symbol, one.kind, one.start_line, one.end_line, one.fingerprint, one.parent)
        for one in read.definitions
    ]
    target.write(json.dumps([read.status, read.detail, rows]).encode() + b"\n")
    target.flush()


def _limit() -> None:
    if sys.platform == "win32":
        return
    import resource
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one that asks decides
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, _MAX_MEMORY))
