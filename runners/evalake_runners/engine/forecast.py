"""What a plan will take: each cell with what is left of it, and the time that may need."""

from __future__ import annotations

from typing import Any

from evalake_runners.engine.indexes import IndexStore
from evalake_runners.engine.lake_read import LakeView
from evalake_runners.engine.plan import Cell, Plan
from evalake_warehouse.project import Project


def expected_seconds(cell: Cell, view: LakeView, indexes: IndexStore) -> float | None:
    """Time of what is left of a cell, from earlier runs of its arm; None where there are none."""
    if cell.is_done:
        return 0.0
    search = view.search_seconds(cell.arm.arm_hash, cell.dataset.dataset)
    if search is None:
        return None
    corpora = {task.corpus_id for task in cell.todo}
    missing = [corpus for corpus in corpora if not indexes.has(cell.arm, corpus)]
    ingestion = cell.arm.ingestion_hash
    indexing = sum(view.index_seconds.get((ingestion, corpus), 0.0) for corpus in missing)
    return len(cell.todo) * search + indexing


def plan_rows(project: Project, plan: Plan, view: LakeView) -> list[dict[str, Any]]:
    """A plan as a table."""
    indexes = IndexStore(project.indexes, reuse=plan.request.reuse_indexes)
    rows = []
    for cell in plan.cells:
        corpora = {task.corpus_id for task in cell.todo}
        rows.append(
            {
                "arm": cell.arm.label,
                "dataset": cell.dataset.dataset,
                "split": cell.split,
                "repeat": cell.repeat,
                "tasks": len(cell.tasks),
                "to_do": len(cell.todo),
                "failed": cell.n_failed,
                "state": cell.state,
                "to_index": sum(not indexes.has(cell.arm, corpus) for corpus in corpora),
                "expected_s": expected_seconds(cell, view, indexes),
                "run_id": cell.run_id,
                "run_label": cell.run_label,
                "arm_hash": cell.arm.arm_hash[:12],
            }
        )
    return rows
