"""Which gold edition judges which run.

Evidence belongs to a question asked of a corpus; gold has an edition of its own. A run is judged by
the edition of its dataset that arrived last among those whose questions it answered: a mended
qrel, another grade or a dropped task makes another edition, and the evidence stays. An edition
that words one of the answered tasks otherwise does not judge the run; neither does one that was
loaded with another selection (`--repo`), which is a part of the benchmark and no correction of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow.parquet as pq

from evalake_warehouse.errors import UsageError
from evalake_warehouse.lake.editions import Row, editions_in
from evalake_warehouse.lake.reader import LakeFile, LakeListing
from evalake_warehouse.lake.wordings import Questions, read_questions, read_splits
from evalake_warehouse.vocabulary import FOLLOWING_GOLD


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run was asked, as its `started` event says."""

    run_id: str
    dataset: str
    edition: str
    split: str
    query_variant: str
    system: str
    n_tasks: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """A gold edition that can judge a run, and of how many tasks."""

    edition: str
    n_tasks: int


@dataclass(frozen=True, slots=True)
class OtherQuestion:
    """A task that one edition asks otherwise than another, or that the other has not."""

    dataset: str
    query_variant: str
    asked_edition: str
    edition: str
    task_id: str


def read_pins(text: str) -> dict[str, str]:
    """Edition per dataset, from `DATASET@EDITION` pairs separated by commas."""
    return dict(pin.split("@") for pin in text.split(",") if pin)


def read_asked(files: Iterable[LakeFile]) -> Asked | None:
    """What a run was asked; None for files whose `runs` row was never written."""
    columns = ["dataset", "edition", "split", "query_variant", "system", "n_tasks"]
    found = None
    for file in files:
        if file.table == "runs":
            # Not `read_table`, which imports pyarrow.dataset first.
            row = pq.ParquetFile(file.path).read(columns=[*columns, "event"]).to_pylist()[0]
            is_start = row.pop("event") == "started"
            if is_start or found is None:
                found = Asked(run_id=file.owner, **row)
            if is_start:
                break
    return found


@dataclass
class Judges:
    """The editions of a lake, asked which of them judges a run.

    Args:
        pinned: per dataset an edition, or its first characters, that comes before later ones.

    Raises:
        UsageError: a pinned edition is not in the lake.
    """

    listing: LakeListing
    pinned: Mapping[str, str] = field(default_factory=dict)
    _questions: dict[tuple[str, str], dict[str, Questions]] = field(
        init=False, default_factory=dict, repr=False
    )
    _splits: dict[str, dict[str, dict[str, set[str]]]] = field(
        init=False, default_factory=dict, repr=False
    )

    def __post_init__(self) -> None:
        for dataset, wanted in self.pinned.items():
            editions = self._editions.get(dataset, [])
            if sum(row["edition"].startswith(wanted) for row in editions) != 1:
                known = ", ".join(row["edition"] for row in editions) or "none"
                what = f"no single edition `{wanted}` of `{dataset}`; there are: {known}"
                raise UsageError(what, where="--gold", hint="evalake datasets list")

    def all(self, asked: Asked) -> Iterator[Judgement]:
        """Editions that can judge a run; the first is the one that does.

        The pinned edition comes first, then the latest. The edition that a run was asked under is
        always among them.
        """
        editions = self._editions.get(asked.dataset, [])
        own = next((row for row in editions if row["edition"] == asked.edition), None)
        if own is None or asked.system in FOLLOWING_GOLD:
            yield Judgement(asked.edition, asked.n_tasks)
            return
        pin = self.pinned.get(asked.dataset)
        in_order = sorted(editions, key=lambda row: not (pin and row["edition"].startswith(pin)))
        for row in in_order:
            if row is own:
                yield Judgement(asked.edition, asked.n_tasks)
            elif row["selection_json"] == own["selection_json"]:
                n_tasks = self._n_judged(asked, row["edition"])
                if n_tasks:
                    yield Judgement(row["edition"], n_tasks)

    def editions_key(self, dataset: str) -> list[list[str | None]]:
        """What a choice among the editions of a dataset depends on, beside the run."""
        rows = self._editions.get(dataset, [])
        pin = self.pinned.get(dataset)
        return [[pin], *([row["edition"], row["arrival_id"]] for row in rows)]

    def other_questions(self, dataset: str, variant: str, edition: str) -> Iterator[OtherQuestion]:
        """Tasks whose answers under some other edition are no evidence under this one."""
        if len(self._editions.get(dataset, [])) < 2:
            return
        by_edition = self._questions_of(dataset, variant)
        judged = by_edition.get(edition, {})
        for asked_edition, asked in by_edition.items():
            for task_id, question in asked.items():
                if judged.get(task_id) != question:
                    yield OtherQuestion(dataset, variant, asked_edition, edition, task_id)

    def _n_judged(self, asked: Asked, edition: str) -> int:
        """Tasks of a run that another edition judges; 0 where it cannot judge the run."""
        by_edition = self._questions_of(asked.dataset, asked.query_variant)
        own, other = by_edition.get(asked.edition, {}), by_edition.get(edition, {})
        reworded = {task for task in own.keys() & other.keys() if own[task] != other[task]}
        own_split = self._tasks(asked.dataset, asked.edition, asked.split)
        other_split = self._tasks(asked.dataset, edition, asked.split)
        is_whole = asked.n_tasks == len(own_split)
        if is_whole and not reworded:
            return len(other_split) if own_split & other_split else 0
        answers = self._answers[asked.run_id]
        valid = {
            task
            for task, editions in answers.items()
            if any(by_edition.get(name, {}).get(task) == other.get(task) for name in editions)
            and task in other
        }
        if not valid or any(task in reworded and task not in valid for task in answers):
            return 0
        if is_whole:
            return len(other_split)
        return asked.n_tasks - len(answers.keys() - other.keys())

    def _tasks(self, dataset: str, edition: str, split: str) -> set[str]:
        if split == "all":
            return set(self._questions_of(dataset, "default").get(edition, {}))
        if dataset not in self._splits:
            self._splits[dataset] = read_splits(self.listing.paths("splits", datasets=[dataset]))
        return self._splits[dataset].get(edition, {}).get(split, set())

    def _questions_of(self, dataset: str, variant: str) -> dict[str, Questions]:
        key = dataset, variant
        if key not in self._questions:
            files = self.listing.paths("tasks", datasets=[dataset])
            self._questions[key] = read_questions(files, variant)
        return self._questions[key]

    @cached_property
    def _editions(self) -> dict[str, list[Row]]:
        found: defaultdict[str, list[Row]] = defaultdict(list)
        for row in editions_in(self.listing.paths("datasets")):
            found[row["dataset"]].append(row)
        return dict(found)

    @cached_property
    def _answers(self) -> _Answers:
        return _Answers(self.listing)


@dataclass
class _Answers:
    """Per run: the tasks that were asked, with the editions they were asked under."""

    listing: LakeListing

    def __getitem__(self, run_id: str) -> dict[str, set[str]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for file in self.listing.by_run[run_id]:
            if file.table == "attempts":
                columns = ["task_id", "edition"]
                for row in pq.ParquetFile(file.path).read(columns=columns).to_pylist():
                    found[row["task_id"]].add(row["edition"])
        return found
