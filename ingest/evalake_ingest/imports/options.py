"""What the command line says of an imported dataset and of an imported ranking."""

from __future__ import annotations

from dataclasses import dataclass

from evalake_ingest.rankings.answers import Unanswered
from evalake_ingest.records import DatasetInfo, SplitRule
from evalake_warehouse.vocabulary import Level

_IMPORTED = "imported "
_IGNORES = "ignore_identical_ids"
_IGNORED = "Hits on the document with a task's own id are left out before ranks are counted."
_DEFAULT_SPLITS: dict[SplitRule, str] = {"dev": "dev", "hash": "dev", "all": "all"}


@dataclass(frozen=True, slots=True)
class DatasetOptions:
    """A dataset as it is declared at its import."""

    name: str
    metric: str | None = None  # None: the usual one of its level
    split_as: SplitRule = "dev"
    grade_scale: int = 1  # grades are multiplied by it
    ignore_identical_ids: bool = False  # the document with a task's own id is no answer to it

    def info(
        self, *, revision: str, loader_version: str, source: str, level: Level, metric: str,
        caveats: tuple[str, ...] = (), strata_label: str | None = None,
    ) -> DatasetInfo:  # fmt: skip
        """The dataset's row, with what was declared and, of the rest, what a format knows.

        Args:
            revision: sha256 of the files' content.
            metric: the primary metric where none was declared.
        """
        primary = self.metric or metric
        return DatasetInfo(
            name=self.name,
            revision=f"sha256:{revision}",
            loader_version=loader_version,
            source=f"{_IMPORTED}{source}",
            licence="unknown",
            citation="imported",
            primary_level=level,
            primary_metric=primary,
            default_split=_DEFAULT_SPLITS[self.split_as],
            caveats=(*caveats, *([_IGNORED] if self.ignore_identical_ids else [])),
            strata_label=strata_label,
            split_rule=self.split_as,
            ignore_identical_ids=self.ignore_identical_ids,
            declared=(primary, self.split_as, *([_IGNORES] if self.ignore_identical_ids else [])),
        )


@dataclass(frozen=True, slots=True)
class RankingOptions:
    """A ranking as it is declared at its import."""

    label: str
    depth: int | None = None  # hits asked for; None: the longest list
    unanswered: Unanswered = "not_attempted"  # what a task is that the ranking says nothing of


def is_imported_source(source: str) -> bool:
    """Whether the `source` of a dataset's row says that it was imported."""
    return source.startswith(_IMPORTED)
