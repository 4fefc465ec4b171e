"""A worker process as its parent sees it: started, asked, and killed when its time is up."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

from evalake_runners.adapters.setup import Setup
from evalake_runners.engine.arms import ArmSpec
from evalake_runners.engine.redact import short_reason
from evalake_runners.engine.stop import STEP_S, StopFlag

# Not multiprocessing's spawn: that runs the parent's main script again, and gives no process
# group and no own stdout. The path is handed over so that the worker imports what we do.
_BOOTSTRAP = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[2]); "
    "from evalake_runners.engine.worker import serve; serve(int(sys.argv[1]))"
)
_START_TIMEOUT_S = 120.0
_CLOSE_TIMEOUT_S = 3.0
_TAIL_BYTES = 2_000


class WorkerCrashedError(Exception):
    """The process is gone; the text says how, and what it last said."""


class WorkerTimeoutError(Exception):
    """No answer in time; the process was killed."""


@dataclass
class Worker:
    """One process with one system in it. `ask` then `receive`; or `call` for both."""

    spec: ArmSpec
    setup: Setup
    folder: Path  # working directory of the process; systems may write into theirs
    stop: StopFlag
    connection: Connection = field(init=False)
    process: subprocess.Popen[bytes] = field(init=False)
    deadline: float = field(init=False, default=0.0)
    _output: IO[bytes] = field(init=False)

    def start(self) -> tuple[Any, ...]:
        """Start the process and its system; returns `("ready",)` or `("failed", reason)`."""
        ours, theirs = socket.socketpair()
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by kill()
        path = json.dumps([str(Path(entry).resolve()) for entry in sys.path if entry])
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"}
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _BOOTSTRAP, str(theirs.fileno()), path],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                cwd=self.folder,
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self.connection = Connection(ours.detach())
        self.ask((self.spec, self.setup), timeout_s=_START_TIMEOUT_S)
        return self.receive()

    def call(self, message: tuple[Any, ...], *, timeout_s: float) -> tuple[Any, ...]:
        """Send a message and wait for the answer.

        Raises:
            WorkerCrashedError, WorkerTimeoutError: the process is dead now.
        """
        self.ask(message, timeout_s=timeout_s)
        return self.receive()

    def ask(self, message: tuple[Any, ...], *, timeout_s: float) -> None:
        """Send a message and set its deadline."""
        self.deadline = time.monotonic() + timeout_s
        try:
            self.connection.send(message)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise WorkerCrashedError(self._last_words()) from error

    def receive(self) -> tuple[Any, ...]:
        """The answer to the last message.

        Raises:
            WorkerCrashedError, WorkerTimeoutError: the process is dead now.
        """
        try:
            while not self.connection.poll(min(STEP_S, max(0.0, self.deadline - time.monotonic()))):
                self.stop.check()
                if self.is_late:
                    self.kill()
                    raise WorkerTimeoutError
            answer: tuple[Any, ...] = self.connection.recv()
        except (EOFError, ConnectionResetError) as error:
            raise WorkerCrashedError(self._last_words()) from error
        return answer

    @property
    def is_late(self) -> bool:
        """Whether the deadline of the last message has passed."""
        return time.monotonic() >= self.deadline

    def close(self) -> None:
        """Let the process end by itself, then make sure of its whole group."""
        self.connection.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_CLOSE_TIMEOUT_S)
        self.kill()

    def kill(self) -> None:
        """Kill the process and every child it left behind. May be called twice."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.connection.close()
        self._output.close()

    def _last_words(self) -> str:
        """How a process that is gone ended, and the last line it printed."""
        try:
            code = self.process.wait(_CLOSE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            code = -signal.SIGKILL
        said = self._last_line()
        self.kill()
        how = f"worker exited with code {code}"
        if code < 0:
            name = signal.Signals(-code).name
            how = f"worker was killed by {name}"
            if code == -signal.SIGKILL:
                how += " (out of memory?)"
        return short_reason(f"{how}: {said}" if said else how)

    def _last_line(self) -> str:
        size = os.fstat(self._output.fileno()).st_size
        tail = os.pread(self._output.fileno(), _TAIL_BYTES, max(0, size - _TAIL_BYTES))
        lines = tail.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""
