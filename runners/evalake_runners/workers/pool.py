"""A worker process as evalake sees it: started, asked, and killed when its time is up."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import IO, Any

from evalake_runners.workers.channel import BadMessageError, Channel, ChannelClosedError
from evalake_runners.workers.redact import short_reason
from evalake_runners.workers.replies import (
    Answered,
    Failed,
    Indexed,
    Opened,
    Ready,
    Refused,
    Reply,
    Told,
    decode_reply,
)
from evalake_runners.workers.run_log import keep_output
from evalake_runners.workers.stop import STEP_S, StopFlag

# Not multiprocessing's spawn: that runs the main script again, and gives no process group and no
# own stdout. The path is handed over so that the worker imports what evalake does.
_BOOTSTRAP = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[2]); "
    "from evalake_runners.workers.keeper import keep; "
    "keep(int(sys.argv[1]), int(sys.argv[3]), network=sys.argv[4] == 'network')"
)
# To each kind of message; any of them may also be `Failed`.
_ANSWERS: dict[str, UnionType | type[Reply]] = {
    "make": Ready, "index": Indexed, "open": Opened, "search": Answered, "tell": Told | Refused,
}  # fmt: skip
MAX_STARTS = 3  # of a worker that something else kills each time
_CLOSE_TIMEOUT_S = 3.0
_KILL_TIMEOUT_S = 15.0
_TAIL_BYTES = 2_000
# By the system for want of memory, or by a person: another try may go well.
_FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM})


class WorkerCrashedError(Exception):
    """The process is gone; the text says how, and what it last said."""

    def __init__(self, told: str, *, is_by_chance: bool = False) -> None:
        super().__init__(told)
        self.is_by_chance = is_by_chance


class WorkerTimeoutError(Exception):
    """No answer in time; the process was killed."""


@dataclass
class Worker:
    """One process with one system in it. `ask` then `receive` or `take`; or `call`."""

    folder: Path  # working directory of the process; systems may write into theirs
    stop: StopFlag
    network: bool  # whether it may use the network
    log: Path | None = None  # of its run, which takes what the process printed when it ends
    channel: Channel = field(init=False)
    process: subprocess.Popen[bytes] = field(init=False)
    deadline: float = field(init=False, default=0.0)
    _output: IO[bytes] = field(init=False)
    _output_before: int = field(init=False, default=0)  # bytes, when the last message was sent
    _number: int = field(init=False, default=0)
    _awaited: UnionType | type[Reply] = field(init=False, default=Ready)

    def start(self) -> None:
        """Start the process."""
        ours, theirs = socket.socketpair()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by kill()
        path = json.dumps([str(Path(entry).resolve()) for entry in sys.path if entry])
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"}
        arguments = [
            str(theirs.fileno()), path, str(os.getpid()), "network" if self.network else "none",
        ]  # fmt: skip
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _BOOTSTRAP, *arguments],
                stdin=subprocess.PIPE,
                stdout=self._output,
                stderr=self._output,
                cwd=self.folder,
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self.channel = Channel(ours)

    def call(self, message: tuple[Any, ...], *, timeout_s: float) -> Reply:
        """Send a message and wait for the answer.

        Raises:
            WorkerCrashedError, WorkerTimeoutError: the process is dead now.
        """
        self.ask(message, timeout_s=timeout_s)
        while (reply := self.take()) is None:
            self.stop.check()
            patience = min(STEP_S, max(0.0, self.deadline - time.monotonic()))
            self.channel.wait(patience)
        return reply

    def ask(self, message: tuple[Any, ...], *, timeout_s: float) -> None:
        """Send a message and set its deadline.

        Raises:
            WorkerCrashedError, WorkerTimeoutError: the process is dead now.
        """
        self._number += 1
        self._awaited = _ANSWERS[message[0]]
        self.deadline = time.monotonic() + timeout_s
        self._output_before = os.fstat(self._output.fileno()).st_size
        try:
            self.channel.send(pickle.dumps((self._number, message)), deadline=self.deadline)
        except ChannelClosedError as error:
            raise self._crashed() from error
        except TimeoutError as error:
            self.kill()
            raise WorkerTimeoutError from error

    def take(self) -> Reply | None:
        """The answer to the last message; None where it is not there yet.

        Raises:
            WorkerCrashedError, WorkerTimeoutError: the process is dead now.
        """
        try:
            message = self.channel.take()
            if message is not None:
                reply = decode_reply(message, to=self._number)
                if not isinstance(reply, self._awaited | Failed):
                    raise BadMessageError("it answers another question")
                return reply
        except ChannelClosedError as error:
            raise self._crashed() from error
        except BadMessageError as error:
            self.kill()
            what = short_reason(f"worker sent what is no answer: {error}")
            raise WorkerCrashedError(what) from error
        if self.is_late:
            self.kill()
            raise WorkerTimeoutError
        return None

    @property
    def is_alive(self) -> bool:
        """Whether the process has not ended."""
        return self.process.poll() is None

    @property
    def is_late(self) -> bool:
        """Whether the deadline of the last message has passed."""
        return time.monotonic() >= self.deadline

    def close(self) -> None:
        """Let the process end by itself, then make sure of all that it started."""
        self.channel.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_CLOSE_TIMEOUT_S)
        self.kill()

    def kill(self) -> None:
        """Kill the process and every child it left behind. May be called twice."""
        if self.process.stdin is not None:
            self.process.stdin.close()  # its keeper ends everything then
        try:
            self.process.wait(_KILL_TIMEOUT_S)
        except subprocess.TimeoutExpired:  # the keeper itself was stopped
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.channel.close()
        if not self._output.closed:
            if self.log is not None:
                keep_output(self.log, self._output, f"worker {self.process.pid}")
            self._output.close()

    def _crashed(self) -> WorkerCrashedError:
        """How a process that is gone ended, and the last line it printed."""
        try:
            code: int | None = self.process.wait(_CLOSE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            code = None
        said = self._last_line()
        self.kill()
        how = "worker closed its connection" if code is None else f"worker exited with code {code}"
        if code is not None and code < 0:
            how = f"worker was killed by {signal.Signals(-code).name}"
            if code == -signal.SIGKILL:
                how += " (out of memory?)"
        told = short_reason(f"{how}: {said}" if said else how)
        return WorkerCrashedError(told, is_by_chance=-(code or 0) in _FROM_OUTSIDE)

    def _last_line(self) -> str:
        size = os.fstat(self._output.fileno()).st_size
        # Not what it printed about an earlier task, such as the traceback of a failure.
        start = max(self._output_before, size - _TAIL_BYTES)
        tail = os.pread(self._output.fileno(), _TAIL_BYTES, start)
        lines = tail.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""
