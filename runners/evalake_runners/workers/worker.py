"""The process that a system under test lives in. It answers evalake's messages, one by one.

    ("make", adapter, config, setup, blob)  -> Ready
    ("index", corpus, folder)               -> Indexed
    ("open", corpus, folder)                -> Opened
    ("search", query)                       -> Answered
    ("tell", surroundings, what, ...)       -> Told or Refused
    any of them                             -> Failed

What the system prints goes to the file that evalake set up as stdout and stderr, never into
the messages.
"""

from __future__ import annotations

import importlib
import os
import pickle
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalake_runners.adapters.protocol import (
    Answer,
    CorpusView,
    NotAttemptedError,
    Query,
    Searcher,
    System,
    UnreadAnswerError,
)
from evalake_runners.adapters.setup import Setup
from evalake_runners.workers.answers import (
    PackedSpending,
    pack_answer,
    pack_call,
    pack_payload,
    pack_report,
    pack_spending,
)
from evalake_runners.workers.blobs import Blob, as_blob
from evalake_runners.workers.channel import BadMessageError, Channel, ChannelClosedError
from evalake_runners.workers.network import block_network
from evalake_runners.workers.paths import PathResolver
from evalake_runners.workers.redact import describe, short_reason
from evalake_runners.workers.replies import (
    Answered,
    Failed,
    Indexed,
    Opened,
    Ready,
    Refused,
    Reply,
    Told,
    encode_reply,
)
from evalake_runners.workers.systems import loaded_files, make_system, tell
from evalake_warehouse.errors import EvalakeError, Problem
from evalake_warehouse.scrub import scrub
from evalake_warehouse.secrets import remembered_secrets


def serve(file_descriptor: int, *, network: str) -> None:
    """Answer messages until the other end closes the connection.

    Args:
        network: what keeps this process off it (`NETWORK_BLOCKS`).
    """
    channel = Channel(socket.socket(fileno=file_descriptor))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker = _Worker(network)
    try:
        while True:
            # Its other end is evalake itself, which sends nothing of a system's.
            number, message = pickle.loads(channel.receive())  # noqa: S301
            channel.send(_encoded(number, worker.answer(message)))
    except (ChannelClosedError, BadMessageError):
        pass
    finally:
        worker.close()
    # A system's threads or atexit handlers must not keep a worker alive that has nothing to do.
    with suppress(Exception):  # it may have closed its output
        sys.stdout.flush()
    os._exit(0)


def _encoded(number: int, reply: Reply) -> bytes:
    try:
        return encode_reply(number, reply)
    except Exception as error:
        return encode_reply(number, Failed(describe(error)))


@dataclass(slots=True)
class _Worker:
    network: str
    system: System | None = None
    blob: Blob | None = None
    searcher: Searcher | None = None
    resolver: PathResolver | None = None
    is_cold: bool = True
    is_guarded: bool = False
    was_cold: bool = False  # when the search at hand began
    answered: object = None  # by the search at hand, before it was checked

    def answer(self, message: tuple[Any, ...]) -> Reply:
        handlers: dict[str, Callable[..., Reply]] = {
            "make": self._make,
            "index": self._index,
            "open": self._open,
            "search": self._search,
            "tell": self._tell,
        }
        try:
            return handlers[message[0]](*message[1:])
        except NotAttemptedError as error:
            reason = describe(error).removeprefix("NotAttemptedError: ")
            return Failed(reason, self._spending(message[0]), is_attempted=False)
        except UnreadAnswerError as error:
            return self._unread(error)
        except BaseException as error:  # sys.exit() in a system must not end the worker
            with suppress(Exception):  # it may have closed its output
                traceback.print_exc()
            return Failed(describe(error), self._spending(message[0]))

    def _unread(self, error: UnreadAnswerError) -> Reply:
        reason = short_reason(str(error))
        spending = self._spending("search")
        try:
            payload, call = pack_payload(error.payload), pack_call(error.call)
        except Exception as wrong:
            return Failed(describe(wrong), spending)
        return Failed(reason, spending, payload=payload, call=call)

    def close(self) -> None:
        searcher, self.searcher = self.searcher, None
        if searcher is not None:
            try:
                searcher.close()
            except BaseException as error:
                print(f"close: {describe(error)}", file=sys.stderr)

    def _make(
        self, adapter: str, config: Mapping[str, Any], setup: Setup, blob: Blob | None
    ) -> Reply:
        self.system, _ = make_system(adapter, config, setup)
        self.blob = blob
        return Ready()

    def _tell(
        self, surroundings: tuple[list[str], str, dict[str, str]], what: str, *arguments: Any
    ) -> Reply:
        path, folder, environment = surroundings
        sys.path[:] = path
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        importlib.invalidate_caches()  # a module may be younger than what was seen so far
        try:
            value = tell(what, *arguments)
        except EvalakeError as error:
            problems = (Problem(scrub(one.where), scrub(one.what)) for one in error.problems)
            return Refused(tuple(problems), error.hint)
        return Told(value, remembered_secrets(), loaded_files())

    def _index(self, corpus: CorpusView, folder: Path) -> Reply:
        started = time.perf_counter()
        report = self._made().index(corpus, folder)
        seconds = time.perf_counter() - started
        return Indexed(pack_report(report), seconds)

    def _open(self, corpus: CorpusView, folder: Path) -> Reply:
        self.close()
        if self.network != "no" and not self.is_guarded:
            block_network()
            self.is_guarded = True
        started = time.perf_counter()
        self.searcher = self._made().open(corpus, folder)
        seconds = time.perf_counter() - started
        is_files = corpus.kind == "files"
        self.resolver = PathResolver(corpus.paths, [corpus.root]) if is_files else None
        self.is_cold = True
        return Opened(seconds, self.network)

    def _search(self, query: Query) -> Reply:
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
        return Answered(packed, seconds, is_cold)

    def _made(self) -> System:
        if self.system is None:
            raise RuntimeError("no system is made")
        return self.system

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
