"""What an earlier run has done of a cell, whatever edition of the dataset it was asked under.

An answer is evidence for every edition that asks the same question of the same corpus, so another
gold makes nothing to be asked again: a build judges the run by it.
"""

from __future__ import annotations

from collections.abc import Collection

from evalake_runners.engine.lake_read import LakeView
from evalake_runners.engine.lake_rows import DatasetRow, PastRun
from evalake_warehouse.vocabulary import ANSWERED, FOLLOWING_GOLD


def take_evidence(
    view: LakeView, dataset: DatasetRow, split: str, wanted: Collection[str], run: PastRun
) -> bool:
    """Whether a run's evidence serves a cell; if so, limit its `statuses` to the cell's questions.

    On the cell's own edition it is if it was begun with the same tasks. On another one it must
    have been asked the same of the tasks that both editions have, and have answered one of them
    in the same words; what is new or worded otherwise is then left to do.

    Args:
        wanted: ids of the cell's tasks.
    """
    run.statuses = _valid(view, dataset, run)
    if run.edition == dataset.edition:
        return run.n_tasks == len(wanted) and run.statuses.keys() <= set(wanted)
    if run.system in FOLLOWING_GOLD or not run.statuses:
        return False
    if view.selection(dataset.dataset, run.edition) != view.selection(
        dataset.dataset, dataset.edition
    ):
        return False
    before = view.split_of(dataset.dataset, run.edition, split)
    common = before & view.split_of(dataset.dataset, dataset.edition, split)
    if run.n_tasks == len(before):
        asked = before
    else:
        asked = {task for statuses in run.tries.values() for task in statuses}
        if len(asked) != run.n_tasks:
            return False  # cut short, so which tasks it was to be asked is not known
    return asked & common == set(wanted) & common


def _valid(view: LakeView, dataset: DatasetRow, run: PastRun) -> dict[str, str]:
    """Status per task of the tries that were asked what the edition at hand asks."""
    if run.tries.keys() <= {dataset.edition}:
        return dict(run.tries.get(dataset.edition, {}))
    by_edition = view.questions(dataset.dataset, run.query_variant)
    now = by_edition.get(dataset.edition, {})
    statuses: dict[str, str] = {}
    for edition, tries in run.tries.items():
        asked = by_edition.get(edition, {})
        for task_id, status in tries.items():
            is_same = task_id in now and asked.get(task_id) == now[task_id]
            if is_same and statuses.get(task_id) not in ANSWERED:
                statuses[task_id] = status
    return statuses
