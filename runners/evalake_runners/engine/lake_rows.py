"""Rows of the lake as the engine has them: a dataset edition, a task, an earlier run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalake_warehouse.vocabulary import FAILED


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """One dataset edition."""

    dataset: str
    edition: str
    primary_metric: str
    primary_level: str
    default_split: str
    is_imported: bool = False


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task, as far as a system may see it."""

    task_id: str
    seed: int
    query: str
    query_variants: Mapping[str, str]
    corpus_id: str
    repo: str | None
    library: str | None
    kind: str | None = None

    def wording(self, variant: str) -> str | None:
        """The query in one wording; None where the task has no such wording."""
        return self.query if variant == "default" else self.query_variants.get(variant)


@dataclass(slots=True)
class PastRun:
    """A run in the lake."""

    run_id: str
    n_tasks: int
    finished: bool
    label: str | None  # of its arm, as it was named then
    edition: str  # that it was started on
    system: str
    query_variant: str
    families: set[str | None] = field(default_factory=set)  # begun in, or joined
    tries: dict[str, dict[str, str]] = field(default_factory=dict)  # edition -> task -> status
    statuses: dict[str, str] = field(default_factory=dict)  # task -> status of the try that counts

    @property
    def failed(self) -> set[str]:
        """Tasks that resume tries again."""
        return {task for task, status in self.statuses.items() if status in FAILED}


CellKey = tuple[str, str, str, int, int]  # arm_hash, dataset, split, seed, repeat
