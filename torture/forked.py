"""Run a piece of work in a fork of this process, which has imported everything, and end it.

A fork starts in milliseconds where a new interpreter takes a second, so that hundreds of kills are
affordable. This process only imports: it starts no thread and opens no database, or forks would
inherit what they cannot use.
"""

from __future__ import annotations

import atexit
import os
import pickle
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

MARK = "EVALAKE_TORTURE"
Work = Callable[[Callable[[str], None]], int]
Result = TypeVar("Result")

_DEADLINE_S = 600.0
_ORPHAN_S = 10.0  # a worker looks for its parent every second
# Calls that change a folder, or promise that a file is on disk: between two of them a kill finds
# the files in another state.
_CALLS = ("replace", "rename", "symlink", "unlink", "fsync", "mkdir", "rmdir", "link")


@dataclass(frozen=True, slots=True)
class Kill:
    """Where a piece of work is killed: one of these, or nowhere."""

    after_s: float | None = None
    before_call: int | None = None  # from 1, of the calls that change files
    at_step: int | None = None  # from 0, of the steps it tells, and `after_s` from there


@dataclass(frozen=True, slots=True)
class Ended:
    """How a piece of work ended."""

    code: int  # -9 where it was killed
    seconds: float
    said: str
    steps: tuple[tuple[float, str], ...]  # when each began
    n_calls: int
    orphans: int = 0


@dataclass
class Place:
    """What a fork sees: its variables, its folder, its limits."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    max_file_bytes: int | None = None
    prepare: Callable[[], None] | None = None  # in the fork, before the work

    def enter(self, log: Path, token: str) -> None:
        """Become the place, in the fork."""
        os.setsid()
        stream = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(stream, 1)
        os.dup2(stream, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        scratch = self.folder / "tmp"
        scratch.mkdir(exist_ok=True)
        os.environ.update({**self.environment, MARK: token, "TMPDIR": str(scratch)})
        tempfile.tempdir = str(scratch)  # asked for a folder, it would try each by writing a file
        os.chdir(self.folder)
        if self.max_file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.max_file_bytes, resource.RLIM_INFINITY))
        if self.prepare is not None:
            self.prepare()


@dataclass
class Running:
    """A fork at work."""

    pid: int
    token: str
    log: Path
    pipe: int
    began: float
    steps: list[tuple[float, str]] = field(default_factory=list)
    n_calls: int = 0
    patience_s: float = _ORPHAN_S

    def wait(self, kill: Kill | None = None) -> Ended:
        """Wait for its end, or bring it about."""
        kill = kill or Kill()
        due = self.began + kill.after_s if kill.after_s and kill.at_step is None else None
        while True:
            self._listen(0.002)
            if kill.at_step is not None and len(self.steps) > kill.at_step and due is None:
                due = self.began + self.steps[kill.at_step][0] + (kill.after_s or 0.0)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return self._ended(os.waitstatus_to_exitcode(status))
            now = time.monotonic()
            if (due is not None and now >= due) or now - self.began > _DEADLINE_S:
                os.kill(self.pid, signal.SIGKILL)
                due = None

    def children(self) -> list[int]:
        """Processes that it started, or that they did."""
        return [pid for pid in _marked(self.token) if pid != self.pid]

    def _listen(self, wait_s: float) -> None:
        if not select.select([self.pipe], [], [], wait_s)[0]:
            return
        for line in os.read(self.pipe, 65_536).decode("utf-8", "replace").splitlines():
            kind, _, text = line.partition(" ")
            if kind == "step":
                self.steps.append((time.monotonic() - self.began, text))
            elif kind == "calls":
                self.n_calls = int(text)

    def _ended(self, code: int) -> Ended:
        seconds = time.monotonic() - self.began
        self._listen(0.0)
        os.close(self.pipe)
        said = self.log.read_text("utf-8", "replace")
        return Ended(code, seconds, said, tuple(self.steps), self.n_calls, self._reap())

    def _reap(self) -> int:
        """End what it left running; the number of processes that did not end by themselves."""
        until = time.monotonic() + self.patience_s
        while (left := self.children()) and time.monotonic() < until:
            time.sleep(0.05)
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        return len(left)


def start(work: Work, place: Place, *, before_call: int | None = None) -> Running:
    """Begin a piece of work in a fork."""
    token = os.urandom(8).hex()
    log = place.folder / f"log-{token}"
    reads, writes = os.pipe()
    sys.stdout.flush()
    began = time.monotonic()
    pid = os.fork()
    if pid:
        os.close(writes)
        return Running(pid, token, log, reads, began)
    code = 70
    try:
        os.close(reads)
        atexit._clear()  # of the process that this is a fork of
        place.enter(log, token)
        count = _count_calls(before_call)
        code = work(lambda step: _tell(writes, f"step {step}"))
        atexit._run_exitfuncs()  # as an interpreter would that ends by itself
        _tell(writes, f"calls {count()}")
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def run(
    work: Work, place: Place, kill: Kill | None = None, *, patience_s: float = _ORPHAN_S
) -> Ended:
    """Do a piece of work in a fork, and kill it where asked.

    Args:
        patience_s: how long what it started may take to end after it.
    """
    running = start(work, place, before_call=kill.before_call if kill else None)
    running.patience_s = patience_s
    ended = running.wait(kill)
    running.log.unlink(missing_ok=True)
    return ended


def ask(question: Callable[[], Result], place: Place) -> Result:
    """The answer of a function that is asked in a fork.

    Raises:
        AssertionError: it failed; with all that it said.
    """
    answer = place.folder / f"answer-{os.urandom(8).hex()}"

    def work(_: Callable[[str], None]) -> int:
        answer.write_bytes(pickle.dumps(question()))
        return 0

    ended = run(work, place)
    if ended.code != 0:
        raise AssertionError(ended.said)
    result: Result = pickle.loads(answer.read_bytes())  # noqa: S301 - written by our own fork
    answer.unlink()
    return result


def _tell(pipe: int, line: str) -> None:
    os.write(pipe, f"{line}\n".encode())


def _count_calls(kill_before: int | None) -> Callable[[], int]:
    """Count calls that change files in this process; die before the one of a number."""
    n_calls = 0

    def wrapped(call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            nonlocal n_calls
            n_calls += 1
            if n_calls == kill_before:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)

        return counted

    for name in _CALLS:
        setattr(os, name, wrapped(getattr(os, name)))
    return lambda: n_calls


def _marked(token: str) -> list[int]:
    """Processes with this mark in their environment."""
    wanted = f"{MARK}={token}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found
