"""Ask every task of one cell, side by side in worker processes, whatever the system does."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from multiprocessing.connection import wait

from evalake_runners.adapters.protocol import CorpusView, Query
from evalake_runners.engine.indexes import IndexOutcome
from evalake_runners.engine.lake_rows import TaskRow
from evalake_runners.engine.record import Outcome, utc_now
from evalake_runners.sweeps.config import Limits
from evalake_runners.workers.answers import PackedSpending
from evalake_runners.workers.pool import (
    MAX_STARTS,
    Worker,
    WorkerCrashedError,
    WorkerTimeoutError,
)
from evalake_runners.workers.replies import Answered, Failed, Opened
from evalake_runners.workers.stop import STEP_S, StopFlag
from evalake_warehouse.vocabulary import AttemptStatus

_OWN_PHASES = ("search", "open")


class WorkerStartError(Exception):
    """The system could not be made in a fresh process, so no task of the arm can be asked."""


@dataclass
class _Slot:
    """One worker process and what it is doing."""

    worker: Worker | None = None
    corpus_id: str | None = None  # whose index is open
    task: TaskRow | None = None
    open_seconds: float | None = None  # of the open that the current task had to wait for
    started_at: datetime | None = None
    n_lost: int = 0  # workers killed from outside, one after the other, while they opened an index


@dataclass
class Search:
    """The tasks of one cell whose corpora have an index or a reason why not."""

    tasks: Sequence[TaskRow]
    corpora: Mapping[str, CorpusView]
    indexes: Mapping[str, IndexOutcome]
    limits: Limits
    depth: int
    variant: str
    start_worker: Callable[[], Worker]
    record: Callable[[Outcome], None]
    attempts: Mapping[str, int]  # the last attempt of each task so far
    stop: StopFlag
    may_go_on: Callable[[], bool]  # False once the sweep's money is spent
    spent_by: Callable[[str], PackedSpending | None]  # a task whose worker is gone
    network_block: str | None = field(default=None, init=False)  # of `NETWORK_BLOCKS`
    _queue: list[TaskRow] = field(default_factory=list, init=False)
    _dead: dict[str, tuple[AttemptStatus, str]] = field(default_factory=dict, init=False)
    _slots: list[_Slot] = field(default_factory=list, init=False)

    def run(self) -> None:
        """Ask until every task has an outcome, money is spent, or someone asks to stop.

        Raises:
            KeyboardInterrupt: after everything finished was recorded.
        """
        self._queue = sorted(self.tasks, key=lambda task: task.corpus_id, reverse=True)
        self._slots = [_Slot() for _ in range(min(self.limits.jobs, len(self._queue)))]
        for corpus_id, index in self.indexes.items():
            if index.status != "ok":
                is_attempted = index.status != "not_attempted"
                status: AttemptStatus = "error" if is_attempted else "not_attempted"
                self._dead[corpus_id] = (status, index.reason or "the index could not be built")
        try:
            self._loop()
        finally:
            for slot in self._slots:
                if slot.worker is not None:
                    slot.worker.kill() if self.stop.is_set else slot.worker.close()

    def _loop(self) -> None:
        while True:
            for slot in self._slots:
                while slot.task is None and self._assign(slot):
                    pass
            busy = {
                slot.worker.channel.fileno(): slot
                for slot in self._slots
                if slot.task and slot.worker
            }
            self.stop.check()
            if not busy:
                return
            first_deadline = min(slot.worker.deadline for slot in busy.values() if slot.worker)
            patience = min(STEP_S, max(0.0, first_deadline - time.monotonic()))
            ready = set(wait(list(busy), patience))
            for channel, slot in busy.items():
                if channel in ready or (slot.worker is not None and slot.worker.is_late):
                    self._receive(slot)

    def _assign(self, slot: _Slot) -> bool:
        """Give an idle slot its next task; True where one was taken off the queue."""
        if not self._queue or self.stop.is_set or not self.may_go_on():
            return False
        task = self._queue.pop()
        slot.started_at = utc_now()
        if task.wording(self.variant) is None:
            self._finish(slot, task, "not_attempted", f"the task has no wording `{self.variant}`")
        elif (dead := self._dead.get(task.corpus_id)) is not None:
            self._finish(slot, task, *dead)
        else:
            slot.task = task
            self._begin(slot)
        return True

    def _begin(self, slot: _Slot) -> None:
        """Send the first message of a task: open its corpus where need be, else search."""
        task = slot.task
        if task is None:
            return
        slot.open_seconds = None
        try:
            if slot.worker is not None and not slot.worker.is_alive:  # it was killed while idle
                slot.worker.kill()
                slot.worker = None
            if slot.worker is None:
                slot.worker = self.start_worker()
                slot.corpus_id = None
            if slot.corpus_id == task.corpus_id:
                self._ask(slot, task)
                return
            corpus = self.corpora[task.corpus_id]
            folder = self.indexes[task.corpus_id].folder
            slot.corpus_id = None
            slot.worker.ask(("open", corpus, folder), timeout_s=self.limits.open_timeout_s)
        except WorkerStartError as error:
            for corpus_id in self.corpora:
                self._dead.setdefault(corpus_id, ("error", str(error)))
            self._finish(slot, task, "error", str(error))
        except (WorkerCrashedError, WorkerTimeoutError) as error:
            self._lost(slot, task, error)

    def _ask(self, slot: _Slot, task: TaskRow) -> None:
        query = Query(
            task_id=task.task_id,
            text=task.wording(self.variant) or "",
            depth=self.depth,
            seed=task.seed,
            library=task.library,
            kind=task.kind,
        )
        if slot.worker is not None:
            slot.worker.ask(("search", query), timeout_s=self.limits.timeout_s)

    def _receive(self, slot: _Slot) -> None:
        task, worker = slot.task, slot.worker
        if task is None or worker is None:
            return
        try:
            reply = worker.take()
            if isinstance(reply, Opened):
                slot.corpus_id = task.corpus_id
                slot.open_seconds = reply.seconds
                slot.n_lost = 0
                self.network_block = reply.network
                self._ask(slot, task)
            elif isinstance(reply, Answered):
                self._finish_answer(slot, task, reply)
            elif isinstance(reply, Failed):
                self._finish_failed(slot, task, reply)
        except (WorkerCrashedError, WorkerTimeoutError) as error:
            self._lost(slot, task, error)

    def _lost(
        self, slot: _Slot, task: TaskRow, error: WorkerCrashedError | WorkerTimeoutError
    ) -> None:
        """Go on without a worker that is gone; the next task gets a fresh one."""
        is_opening = slot.corpus_id != task.corpus_id
        slot.worker = None
        slot.corpus_id = None
        if is_opening:
            self._lost_opening(slot, task, error)
        elif isinstance(error, WorkerTimeoutError):
            reason = f"no answer in {self.limits.timeout_s:g} s"
            self._finish(slot, task, "timeout", reason, self.spent_by(task.task_id))
        else:
            self._finish(slot, task, "error", str(error), self.spent_by(task.task_id))

    def _lost_opening(
        self, slot: _Slot, task: TaskRow, error: WorkerCrashedError | WorkerTimeoutError
    ) -> None:
        if isinstance(error, WorkerTimeoutError):
            self._give_up(slot, task, f"no answer in {self.limits.open_timeout_s:g} s")
            return
        slot.n_lost += error.is_by_chance
        if error.is_by_chance and slot.n_lost < MAX_STARTS:
            self._begin(slot)
            return
        times = f" ({slot.n_lost} times in a row)" if slot.n_lost > 1 else ""
        self._give_up(slot, task, f"{error}{times}")

    def _give_up(
        self, slot: _Slot, task: TaskRow, reason: str, status: AttemptStatus = "error"
    ) -> None:
        """Opening will not go better for the next task of the same corpus."""
        slot.n_lost = 0
        self._dead[task.corpus_id] = (status, f"opening: {reason}")
        self._finish(slot, task, status, f"opening: {reason}")

    def _finish_failed(self, slot: _Slot, task: TaskRow, reply: Failed) -> None:
        status: AttemptStatus = "error" if reply.is_attempted else "not_attempted"
        if slot.corpus_id != task.corpus_id:
            self._give_up(slot, task, reply.reason, status)
        else:
            self._finish(slot, task, status, reply.reason, reply.spending, unread=reply)

    def _finish_answer(self, slot: _Slot, task: TaskRow, reply: Answered) -> None:
        temperature = "cold" if reply.is_cold else "warm"
        timings = {("search", temperature): reply.seconds}
        if slot.open_seconds is not None:
            timings["open", "cold"] = slot.open_seconds
        timings |= _phase_timings(reply.answer.phase_seconds, temperature)
        self.record(
            Outcome(
                task_id=task.task_id,
                attempt=self.attempts.get(task.task_id, 0) + 1,
                status="ok" if reply.answer.hits else "empty",
                started_at=slot.started_at or utc_now(),
                n_concurrent=self._beside(slot),
                answer=reply.answer,
                reason=reply.answer.reason,
                seconds=timings,
            )
        )
        slot.task = None

    def _finish(
        self,
        slot: _Slot,
        task: TaskRow,
        status: AttemptStatus,
        reason: str,
        spending: PackedSpending | None = None,
        *,
        unread: Failed | None = None,
    ) -> None:
        timings = {}
        if spending is not None:
            temperature = "cold" if spending.is_cold else "warm"
            timings = _phase_timings(spending.phase_seconds, temperature)
        self.record(
            Outcome(
                task_id=task.task_id,
                attempt=self.attempts.get(task.task_id, 0) + 1,
                status=status,
                started_at=slot.started_at or utc_now(),
                n_concurrent=self._beside(slot),
                spending=spending,
                reason=reason,
                seconds=timings,
                payload=unread.payload if unread else None,
                call=unread.call if unread else None,
            )
        )
        slot.task = None

    def _beside(self, slot: _Slot) -> int:
        return sum(other is not slot and other.task is not None for other in self._slots)


def _phase_timings(
    phase_seconds: Mapping[str, float], temperature: str
) -> dict[tuple[str, str], float]:
    """Seconds of the phases that a system reports, besides those that are measured here."""
    return {
        (phase, temperature): seconds
        for phase, seconds in phase_seconds.items()
        if phase not in _OWN_PHASES
    }
