"""The process between evalake and a worker: whatever ends one of them, it ends what is left.

It runs nothing of the system under test. A system that hogs its interpreter, ignores signals or
starts children in sessions of their own therefore ends when evalake does, and when its time is up.

Standard input is the life line: at its end, evalake is gone or wants the worker to be.
"""

from __future__ import annotations

import os
import resource
import select
import signal
from contextlib import suppress

from evalake_warehouse.processes import adopt_orphans, die_with, end_descendants

_LIFE_LINE = 0
_PATIENCE_S = 5.0


def keep(channel: int, parent: int, *, network: bool) -> None:
    """Fork the worker, wait for its end or evalake's, and end like the worker did.

    Args:
        channel: file descriptor of the worker's end of the connection.
        parent: process id of evalake.
        network: whether the worker may use it.
    """
    adopt_orphans()
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    os.set_inheritable(channel, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for kind in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(kind, lambda *_: None)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    die_with(parent, signal.SIGTERM)
    keeper = os.getpid()
    worker = os.fork()
    if worker == 0:
        os.close(woken)
        os.close(waker)
        _become_worker(channel, keeper, network=network)
    os.close(channel)
    status = _wait(worker, woken)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(worker, signal.SIGKILL)  # where there is no /proc to find children in
    end_descendants(patience_s=_PATIENCE_S)
    _end_like(status)


def _become_worker(channel: int, keeper: int, *, network: bool) -> None:
    signal.set_wakeup_fd(-1)
    for kind in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(kind, signal.SIG_DFL)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _LIFE_LINE)
    os.close(nothing)
    is_off = False
    if not network:
        from evalake_runners.workers.network import leave_network

        is_off = leave_network()  # before any thread: a process with several cannot
    die_with(keeper)
    from evalake_runners.workers.worker import serve

    serve(channel, network="no" if network else "process" if is_off else "python")


def _wait(worker: int, woken: int) -> int | None:
    """The worker's wait status; None where it must be ended from outside."""
    while True:
        ready, _, _ = select.select([_LIFE_LINE, woken], [], [])
        if woken in ready:
            kinds = os.read(woken, 1024)
            with suppress(ChildProcessError):
                while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                    if ended[0] == worker:
                        return ended[1]
            if signal.SIGTERM in kinds:
                return None
        if _LIFE_LINE in ready and not os.read(_LIFE_LINE, 1024):
            return None


def _end_like(status: int | None) -> None:
    if status is not None and os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        kind = os.WTERMSIG(status)
        if kind != signal.SIGKILL:
            signal.signal(kind, signal.SIG_DFL)
        os.kill(os.getpid(), kind)
    os._exit(1 if status is None else os.waitstatus_to_exitcode(status))
