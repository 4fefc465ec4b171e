"""Run the cells of a plan one after the other; what one of them does never stops the next."""

from __future__ import annotations

import uuid

from evalake_ingest.publish import sweep_stages
from evalake_runners.engine.cell_run import CellResult, CellRun, SweepContext
from evalake_runners.engine.events import RunFacts, joined_row, started_row
from evalake_runners.engine.indexes import IndexStore
from evalake_runners.engine.lake_read import LakeView
from evalake_runners.engine.locks import cell_lock_file, try_lock
from evalake_runners.engine.plan import Cell, Plan, settle
from evalake_runners.engine.progress import Progress
from evalake_runners.engine.record import RunRecorder
from evalake_runners.workers.redact import describe
from evalake_runners.workers.stop import StopFlag
from evalake_warehouse.errors import EvalakeError
from evalake_warehouse.identity import content_hash
from evalake_warehouse.leftovers import sweep_leftovers
from evalake_warehouse.project import Project


class SweepRunner:
    """Runs a plan in one project; `results` has an entry per cell begun, also after a stop."""

    def __init__(self, project: Project, plan: Plan, progress: Progress, stop: StopFlag) -> None:
        self._plan = plan
        self._context = SweepContext(
            project=project,
            request=plan.request,
            progress=progress,
            stop=stop,
            indexes=IndexStore(project.indexes, reuse=plan.request.reuse_indexes),
            facts=RunFacts.collect(project),
            batch=uuid.uuid4().hex,
            spent_usd=_spent_before(project, plan),
        )
        self.results: list[CellResult] = []

    def run(self) -> None:
        """Run every cell that is not done.

        Raises:
            KeyboardInterrupt: someone asked to stop; everything finished is on disk.
        """
        sweep_stages(self._context.project)
        sweep_leftovers(self._context.project)
        try:
            for cell in self._plan.cells:
                self._run_cell(cell)
        finally:
            self._context.indexes.close()

    def _run_cell(self, cell: Cell) -> None:
        if cell.is_done and not cell.is_joining:
            self.results.append(CellResult(cell, cell.run_id, "done"))
            return
        self._context.stop.check()
        lock = cell_lock_file(self._context.project.home, content_hash(list(cell.key)))
        with try_lock(lock) as is_ours:
            if not is_ours:
                what = "another process runs it now"
                self.results.append(CellResult(cell, cell.run_id, "busy", message=what))
                return
            # The plan may be minutes old, and another process may have run this cell since.
            view = LakeView(self._context.project.home)
            settle([cell], view, retry_failed=self._context.request.retry_failed)
            if cell.run_id is not None and cell.is_joining:
                self._join(cell, cell.run_id, view)
            if cell.is_done:
                self.results.append(CellResult(cell, cell.run_id, "done"))
                return
            run = CellRun(self._context, cell, view)
            self.results.append(run.result)
            try:
                run.run()
            except EvalakeError as error:
                run.result.state, run.result.message = "failed", str(error)
            except Exception as error:  # the other arms must still run
                run.result.state, run.result.message = "failed", describe(error)

    def _join(self, cell: Cell, run_id: str, view: LakeView) -> None:
        """Record a `joined` event: this family shares a run that another family made."""
        recorder = RunRecorder(
            self._context.project.lake,
            dataset=cell.dataset.dataset,
            edition=cell.dataset.edition,
            run_id=run_id,
            next_part=view.next_part(run_id),
            known_texts=set(),
        )
        started = started_row(cell, run_id, self._context.request, self._context.facts)
        recorder.event(joined_row(started))


def _spent_before(project: Project, plan: Plan) -> float:
    """What a plan's runs have cost so far: a resumed sweep does not forget it."""
    runs = [cell.run_id for cell in plan.cells if cell.run_id]
    if plan.request.limits.max_cost_usd is None or not runs:
        return 0.0
    return LakeView(project.home).spent(runs)[1]
