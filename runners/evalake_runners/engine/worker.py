"""The process that a system under test lives in. It answers its parent's messages, one by one.

    ("index", corpus, folder)   -> ("indexed", report, seconds)
    ("open", corpus, folder)    -> ("opened", seconds, network_blocked)
    ("search", query)           -> ("answer", packed, seconds, is_cold)
    any of them                 -> ("failed" or "not_attempted", reason, spending or None)

What the system prints goes to the file that the parent set up as stdout and stderr, never into
the messages.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from evalake_runners.adapters.protocol import (
    Answer,
    CorpusView,
    NotAttemptedError,
    Query,
    Searcher,
    System,
)
from evalake_runners.engine.answers import PackedSpending, pack_answer, pack_spending
from evalake_runners.engine.arms import make_system
from evalake_runners.engine.blobs import Blob, as_blob
from evalake_runners.engine.network import block_network
from evalake_runners.engine.paths import PathResolver
from evalake_runners.engine.redact import describe

_PARENT_CHECK_S = 1.0


def serve(file_descriptor: int) -> None:
    """Answer messages until the parent closes the connection."""
    connection = Connection(file_descriptor)
    parent = os.getppid()
    threading.Thread(target=_die_with, args=(parent,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker: _Worker | None = None
    try:
        spec, setup = connection.recv()
        try:
            worker = _Worker(make_system(spec, setup), spec.blob)
            connection.send(("ready",))
        except BaseException as error:  # whatever a system does is its failure
            connection.send(("failed", describe(error), None))
        while worker is not None:
            connection.send(worker.answer(connection.recv()))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    finally:
        if worker is not None:
            worker.close()
    # A system's threads or atexit handlers must not keep a worker alive that has nothing to do.
    sys.stdout.flush()
    os._exit(0)


@dataclass(slots=True)
class _Worker:
    system: System
    blob: Blob | None
    searcher: Searcher | None = None
    resolver: PathResolver | None = None
    is_cold: bool = True
    network_blocked: bool = field(default=False)
    was_cold: bool = False  # when the search at hand began
    answered: object = None  # by the search at hand, before it was checked

    def answer(self, message: tuple[Any, ...]) -> tuple[Any, ...]:
        handlers: dict[str, Callable[..., tuple[Any, ...]]] = {
            "index": self._index,
            "open": self._open,
            "search": self._search,
        }
        try:
            return handlers[message[0]](*message[1:])
        except NotAttemptedError as error:
            reason = describe(error).removeprefix("NotAttemptedError: ")
            return ("not_attempted", reason, self._spending(message[0]))
        except BaseException as error:  # sys.exit() in a system must not end the worker
            return ("failed", describe(error), self._spending(message[0]))

    def close(self) -> None:
        searcher, self.searcher = self.searcher, None
        if searcher is not None:
            try:
                searcher.close()
            except BaseException as error:
                print(f"close: {describe(error)}", file=sys.stderr)

    def _index(self, corpus: CorpusView, folder: Path) -> tuple[Any, ...]:
        started = time.perf_counter()
        report = self.system.index(corpus, folder)
        return ("indexed", report, time.perf_counter() - started)

    def _open(self, corpus: CorpusView, folder: Path) -> tuple[Any, ...]:
        self.close()
        if not self.system.needs_network and not self.network_blocked:
            block_network()
            self.network_blocked = True
        started = time.perf_counter()
        self.searcher = self.system.open(corpus, folder)
        seconds = time.perf_counter() - started
        is_files = corpus.kind == "files"
        self.resolver = PathResolver(corpus.paths, [corpus.root]) if is_files else None
        self.is_cold = True
        return ("opened", seconds, self.network_blocked)

    def _search(self, query: Query) -> tuple[Any, ...]:
        if self.searcher is None:
            raise RuntimeError("no index is open")
        is_cold, self.is_cold = self.is_cold, False
        self.was_cold, self.answered = is_cold, None
        started = time.perf_counter()
        answer = self.answered = self.searcher.search(query)
        seconds = time.perf_counter() - started
        if self.blob is not None and isinstance(answer, Answer):
            answer = as_blob(answer, self.blob)
        packed = pack_answer(answer, depth=query.depth, resolver=self.resolver)
        return ("answer", packed, seconds, is_cold)

    def _spending(self, kind: str) -> PackedSpending | None:
        """What a search that failed has taken so far, where its system says so."""
        if kind != "search" or self.searcher is None:
            return None
        try:
            told = getattr(self.searcher, "spending", None)
            if told is not None:
                return pack_spending(told(), is_cold=self.was_cold)
            if isinstance(self.answered, Answer):
                return pack_spending(self.answered, is_cold=self.was_cold)
        except Exception as error:
            print(f"spending: {describe(error)}", file=sys.stderr)
        return None


def _die_with(parent: int) -> None:
    """End the whole process group when the parent is gone: it may have been killed with -9."""
    while os.getppid() == parent:
        time.sleep(_PARENT_CHECK_S)
    os.killpg(os.getpgid(0), signal.SIGKILL)
