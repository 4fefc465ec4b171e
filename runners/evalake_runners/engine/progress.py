"""How far a sweep is: bars on stderr where it is a terminal, else nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from evalake_runners.engine.plan import Cell


class Step(Protocol):
    """Progress of one cell."""

    def advance(self, *, failed: bool) -> None:
        """One task more is done."""

    def note(self, text: str) -> None:
        """What is happening besides tasks; empty for nothing."""


class Progress:
    """Bars for one sweep."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()

    @contextmanager
    def cell(self, cell: Cell) -> Iterator[Step]:
        """A bar for one cell while the block runs."""
        if not self._is_terminal:
            yield _Silent()
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        name = f"{cell.arm.label} on {cell.dataset.dataset} {cell.split}"
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
        )
        with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
            task = bars.add_task(name, total=len(cell.todo), note="")
            yield _Bar(bars, task)


class _Silent:
    def advance(self, *, failed: bool) -> None:
        pass

    def note(self, text: str) -> None:
        pass


class _Bar:
    def __init__(self, bars: Any, task: Any) -> None:
        self._bars = bars
        self._task = task
        self._n_failed = 0

    def advance(self, *, failed: bool) -> None:
        self._n_failed += failed
        note = f"{self._n_failed} failed" if self._n_failed else ""
        self._bars.update(self._task, advance=1, note=note)

    def note(self, text: str) -> None:
        self._bars.update(self._task, note=text)
