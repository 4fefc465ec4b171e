"""One cell on its way: index its corpora, ask its tasks, record what came of them."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalake_ingest.corpora.store import open_corpus
from evalake_ingest.editions.pipeline import record_corpus
from evalake_runners.adapters.ledger import LedgerPlace
from evalake_runners.adapters.protocol import CorpusView
from evalake_runners.engine.events import RunFacts, finished_row, started_row
from evalake_runners.engine.indexes import IndexOutcome, IndexStore
from evalake_runners.engine.lake_read import LakeView
from evalake_runners.engine.looks import look_row, mirror
from evalake_runners.engine.plan import Cell, Request
from evalake_runners.engine.progress import Progress, Step
from evalake_runners.engine.record import Outcome, RunRecorder
from evalake_runners.engine.search import Search, WorkerStartError
from evalake_runners.sweeps.arms import edited_since
from evalake_runners.workers.answers import PackedSpending
from evalake_runners.workers.pool import (
    MAX_STARTS,
    Worker,
    WorkerCrashedError,
    WorkerTimeoutError,
)
from evalake_runners.workers.replies import Failed
from evalake_runners.workers.run_log import log_file
from evalake_runners.workers.stop import StopFlag
from evalake_warehouse.lake.arrivals import next_id
from evalake_warehouse.project import Project
from evalake_warehouse.scratch import scratch_folder
from evalake_warehouse.vocabulary import FAILED

_START_TIMEOUT_S = 120.0
_BACKOFF_S = 0.2  # before a worker is started again, once more with each time


@dataclass(slots=True)
class CellResult:
    """The outcome of one cell."""

    cell: Cell
    run_id: str | None
    state: str  # done (nothing to do) | ran | stopped | busy | failed
    statuses: Counter[str] = field(default_factory=Counter)  # of this invocation's attempts
    message: str | None = None

    @property
    def n_left(self) -> int:
        """Tasks without an attempt."""
        return len(self.cell.todo) - self.statuses.total() if self.state != "done" else 0

    @property
    def n_failed(self) -> int:
        """Tasks whose last try failed, in this invocation or before."""
        return sum(self.statuses[status] for status in FAILED) + self.cell.n_failed


@dataclass
class SweepContext:
    """State that all cells of one invocation share."""

    project: Project
    request: Request
    progress: Progress
    stop: StopFlag
    indexes: IndexStore
    facts: RunFacts
    batch: str  # groups the looks of one invocation
    spent_usd: float = 0.0
    known_texts: dict[str, set[str]] = field(default_factory=dict)  # dataset -> hashes

    def may_go_on(self) -> bool:
        """Whether there is money left for another task."""
        limit = self.request.limits.max_cost_usd
        return limit is None or self.spent_usd < limit

    def texts(self, dataset: str, view: LakeView) -> set[str]:
        """Hashes of the texts that the lake has; shared by all cells of a dataset."""
        if dataset not in self.known_texts:
            self.known_texts[dataset] = view.known_texts(dataset)
        return self.known_texts[dataset]


class CellRun:
    """Runs one cell. `result` is true at any moment, also after a stop."""

    def __init__(self, context: SweepContext, cell: Cell, view: LakeView) -> None:
        self._context = context
        self._cell = cell
        self._run_id = cell.run_id or next_id(context.project.home)
        self.result = CellResult(cell, self._run_id, "stopped")
        self._device: str | None = None
        dataset = cell.dataset.dataset
        self._recorder = RunRecorder(
            context.project.lake,
            dataset=dataset,
            edition=cell.dataset.edition,
            run_id=self._run_id,
            next_part=view.next_part(self._run_id),
            known_texts=context.texts(dataset, view),
        )
        self._attempts = {} if cell.is_new else view.last_attempts(self._run_id)
        self._indexed = set() if cell.is_new else view.indexed_corpora(self._run_id)
        self._ledger = LedgerPlace(
            context.project.home / "spent" / f"{self._run_id}.json",
            *(() if cell.is_new else view.spent([self._run_id])),
        )

    def run(self) -> None:
        """Do what is left of the cell.

        Raises:
            KeyboardInterrupt: someone asked to stop; everything finished is on disk.
        """
        cell, context = self._cell, self._context
        base = started_row(cell, self._run_id, context.request, context.facts)
        if cell.is_new:
            self._recorder.event(base)
        if cell.is_look:
            look = look_row(cell, self._run_id, context.request, context.batch)
            self._recorder.look(look)
            if not cell.dataset.is_imported:  # the ledger is of the project's own benchmarks
                mirror(context.project, look, cell.arm.label)
        if (own := cell.own_corpus) is not None:
            record_corpus(
                context.project, own.source, own.stored,
                dataset=cell.dataset.dataset, edition=cell.dataset.edition,
            )  # fmt: skip
        with (
            scratch_folder(Path(tempfile.gettempdir()), "evalake-") as folder,
            self._recording(),
            context.progress.cell(cell) as step,
        ):
            corpora = self._open_corpora()
            indexes = self._index_all(corpora, folder, step)
            search = Search(
                tasks=cell.todo,
                corpora=corpora,
                indexes=indexes,
                limits=context.request.limits,
                depth=cell.arm.spec.n_asked,
                variant=cell.arm.spec.query_variant,
                start_worker=lambda: self._start_worker(folder, network=cell.arm.needs_network),
                record=lambda outcome: self._record(outcome, step),
                attempts=self._attempts,
                stop=context.stop,
                may_go_on=context.may_go_on,
                spent_by=self._spent_by,
            )
            search.run()
        if self.result.n_left:
            self.result.message = "stopped at limits.max_cost_usd"
            return
        self.result.state = "ran"
        if self.result.n_failed == 0:  # else `resume` goes on with what is left of a budget
            self._ledger.remove()
        self._recorder.event(
            finished_row(
                base,
                is_complete=self.result.n_failed == 0,
                device=self._device,
                network_block=search.network_block,
            )
        )

    @contextmanager
    def _recording(self) -> Iterator[None]:
        """Write what is finished when the block ends, and count only what could be written."""
        try:
            yield
        finally:
            try:
                self._recorder.flush()
            finally:
                for status, n_lost in self._recorder.pending.items():
                    self.result.statuses[status] -= n_lost

    def _open_corpora(self) -> dict[str, CorpusView]:
        corpora = {}
        for corpus_id in sorted({task.corpus_id for task in self._cell.todo}):
            stored = open_corpus(self._context.project, corpus_id)
            corpora[corpus_id] = CorpusView(corpus_id, stored.kind, stored.root, stored.paths)
        return corpora

    def _index_all(
        self, corpora: Mapping[str, CorpusView], folder: Path, step: Step
    ) -> dict[str, IndexOutcome]:
        """Indexes of all corpora; built in one process, which does not answer queries after."""
        worker: Worker | None = None

        def get_worker() -> Worker:
            nonlocal worker
            if worker is None or not worker.is_alive:
                # What is downloaded while indexing is set-up; searches are what is measured.
                worker = self._start_worker(folder, network=True)
            return worker

        outcomes = {}
        try:
            for number, (corpus_id, corpus) in enumerate(corpora.items(), start=1):
                self._context.stop.check()
                step.note(f"index {number}/{len(corpora)}")
                outcomes[corpus_id] = outcome = self._index_one(corpus, get_worker)
                self._device = outcome.report.device or self._device
                if corpus_id not in self._indexed:
                    ingestion = self._cell.arm.ingestion_hash
                    self._recorder.index_event(corpus_id, ingestion, outcome)
        finally:
            step.note("")
            if worker is not None:
                worker.close()
        return outcomes

    def _index_one(self, corpus: CorpusView, get_worker: Callable[[], Worker]) -> IndexOutcome:
        try:
            return self._context.indexes.obtain(
                self._cell.arm,
                corpus,
                get_worker,
                timeout_s=self._context.request.limits.index_timeout_s,
            )
        except WorkerStartError as error:
            return IndexOutcome("error", reason=str(error))

    def _start_worker(self, folder: Path, *, network: bool) -> Worker:
        """A worker with its system made; tried again where something else killed it."""
        arm, stop = self._cell.arm, self._context.stop
        setup = replace(arm.setup, ledger=self._ledger)
        log = log_file(self._context.project.home, self._run_id)
        message = ("make", arm.spec.adapter, arm.spec.config, setup, arm.spec.blob)
        for n_lost in range(1, MAX_STARTS + 1):
            worker = Worker(folder, stop, network, log)
            worker.start()
            try:
                reply = worker.call(message, timeout_s=_START_TIMEOUT_S)
            except WorkerCrashedError as error:
                if error.is_by_chance and n_lost < MAX_STARTS:
                    stop.check()
                    time.sleep(_BACKOFF_S * n_lost)
                    continue
                times = f" ({n_lost} times in a row)" if n_lost > 1 else ""
                raise WorkerStartError(f"starting: {error}{times}") from error
            except WorkerTimeoutError as error:
                raise WorkerStartError("starting: no answer") from error
            if isinstance(reply, Failed):
                worker.kill()
                raise WorkerStartError(f"starting: {reply.reason}")
            if edited := edited_since(arm):
                worker.kill()
                raise WorkerStartError(f"changed after the run was planned: {edited}; run it again")
            return worker
        raise AssertionError("a worker starts, or is lost")

    def _record(self, outcome: Outcome, step: Step) -> None:
        self._recorder.add(outcome)
        self.result.statuses[outcome.status] += 1
        if outcome.paid is not None and outcome.paid.cost_usd is not None:
            self._context.spent_usd += outcome.paid.cost_usd
        step.advance(failed=outcome.status in FAILED)

    def _spent_by(self, task_id: str) -> PackedSpending | None:
        """What the run's ledger has of a task whose worker was killed or crashed."""
        used = self._ledger.used_by(task_id)
        if used is None or not used.n_calls:
            return None
        return PackedSpending(used.n_calls, used.cost_usd, {}, is_cold=False)
