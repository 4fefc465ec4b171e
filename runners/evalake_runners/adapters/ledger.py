"""What paid calls of one run have used, kept where all its worker processes see it.

A worker counts a call before it makes it, so that a budget is never passed by more than the calls
on their way, and a call whose worker was killed stays counted. The file outlives the process: a
run that goes on later goes on with what is left.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from evalake_warehouse.scratch import replacing


class BudgetSpentError(Exception):
    """The next call would pass the budget; the text says by how much."""


@dataclass(slots=True)
class Used:
    """Calls and their cost; the cost is None where no prices are known."""

    n_calls: int = 0
    cost_usd: float | None = None

    def add(self, n_calls: int, cost_usd: float | None) -> None:
        """Count further calls."""
        self.n_calls += n_calls
        if cost_usd is not None:
            self.cost_usd = max(0.0, (self.cost_usd or 0.0) + cost_usd)


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """Where a run keeps its ledger, and what its attempts are recorded to have used before."""

    path: Path
    n_calls: int = 0
    cost_usd: float = 0.0

    def used_by(self, task_id: str) -> Used | None:
        """Calls and cost of a task whose worker was killed; None where it had paid for nothing."""
        state = _read(self.path)
        return None if state is None else state.tasks.get(task_id)

    def remove(self) -> None:
        """Forget it, once the run needs no budget any more."""
        for path in (self.path, _lock(self.path)):
            path.unlink(missing_ok=True)


@dataclass(slots=True)
class _State:
    total: Used = field(default_factory=Used)
    tasks: dict[str, Used] = field(default_factory=dict)  # those being worked on


class Ledger:
    """One worker's view of a run's ledger; without a place, a count of this process alone."""

    def __init__(self, place: LedgerPlace | None = None) -> None:
        self._place = place
        self._own = _State()
        self._task: str | None = None

    def begin(self, task_id: str) -> None:
        """Book what follows on a task, and close the task before."""
        with self._state() as state:
            if self._task is not None:
                state.tasks.pop(self._task, None)
            state.tasks[task_id] = Used()
        self._task = task_id

    def reserve(
        self, cost_usd: float | None, *, max_calls: int | None, max_cost_usd: float | None
    ) -> None:
        """Count one call that is about to be made, at the cost to be expected.

        Raises:
            BudgetSpentError: it would pass a limit; nothing was counted.
        """
        with self._state() as state:
            total = state.total
            spent, more = total.cost_usd or 0.0, cost_usd or 0.0
            if max_calls is not None and total.n_calls >= max_calls:
                raise BudgetSpentError(f"budget: {total.n_calls} of {max_calls} calls made")
            if max_cost_usd is not None and spent + more > max_cost_usd:
                raise BudgetSpentError(
                    f"budget: ${spent:.4f} of ${max_cost_usd:.4f} spent, and this prompt would "
                    f"cost ${more:.4f}"
                )
            self._book(state, 1, cost_usd)

    def settle(self, reserved_usd: float | None, cost_usd: float | None) -> None:
        """Put what a call really cost in the place of what was reserved for it."""
        if reserved_usd is None and cost_usd is None:
            return
        with self._state() as state:
            self._book(state, 0, (cost_usd or 0.0) - (reserved_usd or 0.0))

    def _book(self, state: _State, n_calls: int, cost_usd: float | None) -> None:
        state.total.add(n_calls, cost_usd)
        if self._task is not None:
            state.tasks.setdefault(self._task, Used()).add(n_calls, cost_usd)

    @contextmanager
    def _state(self) -> Iterator[_State]:
        """The state as it is now; what the block makes of it is kept unless it raises."""
        if self._place is None:
            yield self._own
            return
        from filelock import FileLock

        path = self._place.path
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(_lock(path)):
            state = _read(path) or _State()
            total = state.total
            total.n_calls = max(total.n_calls, self._place.n_calls)
            if self._place.cost_usd > (total.cost_usd or 0.0):
                total.cost_usd = self._place.cost_usd
            yield state
            with replacing(path) as file:
                file.write(json.dumps(asdict(state)).encode())


def _lock(path: Path) -> Path:
    return path.with_suffix(".lock")


def _read(path: Path) -> _State | None:
    """The state on disk; None where there is none yet."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    tasks = {task_id: Used(**used) for task_id, used in stored["tasks"].items()}
    return _State(Used(**stored["total"]), tasks)
