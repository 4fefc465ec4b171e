"""What no arm can be asked, known before anything runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from shlex import quote

from evalake_ingest.corpora.store import ABSENT_CORPUS_ID
from evalake_runners.engine.lake_rows import DatasetRow, TaskRow
from evalake_runners.sweeps.arms import Arm, ArmSpec
from evalake_runners.sweeps.config import DatasetEntry
from evalake_warehouse.errors import UsageError
from evalake_warehouse.nearest import did_you_mean


def no_tasks(entry: DatasetEntry, split: str, known: Collection[str]) -> UsageError:
    """That a split does not exist, or that it has no task of the repository or library asked for.

    Args:
        known: the splits of the dataset.
    """
    if split not in known:
        return UsageError(f"`{entry.dataset}` has no split `{split}`{did_you_mean(split, known)}")
    chosen = [
        f"{name} `{value}`"
        for name, value in (("repo", entry.repo), ("library", entry.library))
        if value is not None
    ]
    of = f" of {' and '.join(chosen)}" if chosen else ""
    return UsageError(
        f"split `{split}` of `{entry.dataset}` has no task{of}",
        hint=f"evalake datasets show {quote(entry.dataset)}",
    )


def refuse_unknown_wording(spec: ArmSpec, tasks: Sequence[TaskRow], dataset: DatasetRow) -> None:
    """Refuse a query variant that no task has.

    Raises:
        UsageError: with the variants that there are.
    """
    variant = spec.query_variant
    if all(task.wording(variant) is None for task in tasks):
        known = sorted({"default", *(name for task in tasks for name in task.query_variants)})
        raise UsageError(
            f"no task of {dataset.dataset} has the wording `{variant}`"
            f"{did_you_mean(variant, known)}",
            where=f"{spec.label}: query_variant",
        )


def refuse_absent_corpus(arm: Arm, tasks: Sequence[TaskRow], dataset: DatasetRow) -> None:
    """Refuse to let a system search a corpus that is not at hand: it would find nothing.

    Raises:
        UsageError: with what the system can search instead.
    """
    if arm.needs_corpus and any(task.corpus_id == ABSENT_CORPUS_ID for task in tasks):
        raise UsageError(
            f"the corpus of {dataset.dataset} is not at hand, and {arm.system} searches nothing "
            "else; import the dataset with its corpus, or name a folder with --corpus-dir",
            where=arm.label,
            hint=f"evalake datasets show {quote(dataset.dataset)}",
        )
