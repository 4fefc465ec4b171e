"""Ctrl-C and SIGTERM as a request: what is finished is written first. A second one ends at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STEP_S = 0.25  # how often a wait looks at the flag


class StopFlag:
    """Whether someone asked to stop."""

    def __init__(self) -> None:
        self.is_set = False

    def request(self) -> None:
        """Ask to stop; the second time, raise."""
        if self.is_set:
            raise KeyboardInterrupt
        self.is_set = True

    def check(self) -> None:
        """Raise where the work can end without losing anything."""
        if self.is_set:
            raise KeyboardInterrupt


@contextmanager
def stop_on_signals() -> Iterator[StopFlag]:
    """A flag that SIGINT and SIGTERM set while the block runs."""
    flag = StopFlag()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return
    before = {kind: signal.getsignal(kind) for kind in (signal.SIGINT, signal.SIGTERM)}
    handler: Callable[..., None] = lambda *_: flag.request()  # noqa: E731
    for kind in before:
        signal.signal(kind, handler)
    try:
        yield flag
    finally:
        for kind, previous in before.items():
            signal.signal(kind, previous)
