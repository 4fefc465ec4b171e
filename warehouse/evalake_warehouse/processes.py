"""Processes that end with the one that started them, whatever ends it."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_ROUND_S = 0.005


def die_with(parent: int, kind: int = signal.SIGKILL) -> None:
    """Have the kernel send this process a signal when its parent ends (on Linux).

    Args:
        parent: process id of the parent. Where it is gone already, this process ends now.
    """
    _prctl(_PR_SET_PDEATHSIG, kind)
    if os.getppid() != parent:
        os._exit(1)


def spawned_pool(n_processes: int) -> ProcessPoolExecutor:
    """A pool of fresh processes, which end with this one."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    return ProcessPoolExecutor(
        n_processes,
        mp_context=get_context("spawn"),
        initializer=die_with,
        initargs=(os.getpid(),),
    )


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends (on Linux)."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_descendants(*, patience_s: float) -> None:
    """Kill all children of this process and theirs, and wait until none is left.

    A child in a session of its own is found too, if this process adopts orphans.
    """
    give_up = time.monotonic() + patience_s
    while time.monotonic() < give_up:
        for pid in descendants(os.getpid()):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(_ROUND_S)


def descendants(ancestor: int) -> list[int]:
    """Ids of the processes below `ancestor`; empty where there is no `/proc`."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # `pid (name) state ppid ...`; a name may hold spaces and brackets.
            parent = int((folder / "stat").read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        children.setdefault(parent, []).append(int(folder.name))
    found: list[int] = []
    waiting = [ancestor]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
