"""What would run, what is done, and how long it may take. Reads the lake, spends nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, groupby, islice

from evalake_ingest.corpora.rules import TEXT
from evalake_ingest.corpora.sources import FolderSource
from evalake_ingest.corpora.store import StoredCorpus, store_corpus
from evalake_runners.engine.lake_read import LakeView
from evalake_runners.engine.lake_rows import CellKey, DatasetRow, PastRun, TaskRow
from evalake_runners.engine.refusals import (
    no_tasks,
    refuse_absent_corpus,
    refuse_unknown_wording,
)
from evalake_runners.engine.reuse import take_evidence
from evalake_runners.sweeps.arms import Arm, ArmSpec, bind
from evalake_runners.sweeps.config import DatasetEntry, Limits
from evalake_warehouse.errors import ConfigError, EvalakeError, Problem
from evalake_warehouse.project import Project
from evalake_warehouse.vocabulary import TEST_SPLITS


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for, by a sweep file or by flags."""

    arms: tuple[ArmSpec, ...]
    datasets: tuple[DatasetEntry, ...]
    limits: Limits
    seed: int = 0
    repeats: int = 1
    sweep_id: str | None = None
    family: str | None = None
    primary_metric: str | None = None
    limit: int | None = None  # tasks per cell
    retry_failed: bool = False  # resume
    again: bool = False  # ask what is done once more, as new repeats
    confirm: str | None = None
    reuse_indexes: bool = True
    command: str = ""


@dataclass(frozen=True, slots=True)
class OwnCorpus:
    """The folder that an arm searches instead of the dataset's corpora, as it was read."""

    source: FolderSource
    stored: StoredCorpus


@dataclass(slots=True)
class Cell:
    """One arm on one dataset split, once."""

    arm: Arm
    dataset: DatasetRow
    split: str
    seed: int
    repeat: int
    tasks: list[TaskRow]
    family: str | None
    primary_metric: str
    has_tail: bool = True  # whether the dataset holds back tasks for the last word
    run_id: str | None = None  # of the earlier run that it is, or goes on with
    run_label: str | None = None  # of that run, which keeps the label that it was begun under
    is_new: bool = True
    is_finished: bool = False
    is_joining: bool = False  # its run was made for another family, and has yet to join this one
    todo: list[TaskRow] = field(default_factory=list)
    own_corpus: OwnCorpus | None = None
    n_failed: int = 0  # tasks whose last try failed, and that are not to be tried again now

    @property
    def key(self) -> CellKey:
        """Identity of the cell."""
        dataset = self.dataset
        return self.arm.arm_hash, dataset.dataset, self.split, self.seed, self.repeat

    @property
    def is_done(self) -> bool:
        """Whether there is nothing to do, not even to note that it ended."""
        return not self.todo and self.is_finished

    @property
    def state(self) -> str:
        """For people: done, new, or resumed."""
        return "done" if self.is_done else "new" if self.is_new else "resumes"

    @property
    def other_label(self) -> str | None:
        """The label of its earlier run, where that is not the arm's label now."""
        return self.run_label if self.run_label != self.arm.label else None

    @property
    def is_look(self) -> bool:
        """Whether running it uses tasks of the test tail."""
        return self.split in TEST_SPLITS and self.has_tail and bool(self.todo)


@dataclass(frozen=True, slots=True)
class Plan:
    """Every cell of a request."""

    request: Request
    cells: tuple[Cell, ...]

    @property
    def own_corpora(self) -> list[OwnCorpus]:
        """Each folder once that arms search instead of their datasets' corpora."""
        found = {cell.own_corpus.source: cell.own_corpus for cell in self.cells if cell.own_corpus}
        return list(found.values())

    @property
    def looks(self) -> list[Cell]:
        """Cells that would use the test tail."""
        return [cell for cell in self.cells if cell.is_look]


def make_plan(project: Project, request: Request, view: LakeView | None = None) -> Plan:
    """Work out the cells of a request.

    Raises:
        ConfigError: every dataset that is missing, split that is empty and arm that cannot be
            made, at once.
    """
    view = view or LakeView(project.home)
    problems: list[Problem] = []
    hints: list[str] = []
    cells: list[Cell] = []
    for entry in request.datasets:
        try:
            cells += _cells_of(project, request, entry, view)
        except EvalakeError as error:
            problems += [problem for problem in error.problems if problem not in problems]
            hints += [error.hint] if error.hint and error.hint not in hints else []
    if problems:
        raise ConfigError(problems, hint=" && ".join(hints) or None)
    settle(cells, view, retry_failed=request.retry_failed)
    if request.again:
        cells = _asked_again(cells, view, request)
    return Plan(request, tuple(cells))


def settle(cells: Sequence[Cell], view: LakeView, *, retry_failed: bool) -> None:
    """Set in each cell which of its tasks earlier runs have answered."""
    past = view.past_runs(cell.key for cell in cells)
    for cell in cells:
        wanted = {task.task_id for task in cell.tasks}
        same = [
            run
            for run in past.get(cell.key, [])
            if take_evidence(view, cell.dataset, cell.split, wanted, run)
        ]
        _settle_one(cell, same, retry_failed=retry_failed)


def _asked_again(cells: Sequence[Cell], view: LakeView, request: Request) -> list[Cell]:
    """The cells with a new repeat in place of each that is done, numbered on from the highest.

    A repeat that was begun and not ended is gone on with. `resume` begins none.
    """
    asked: list[Cell] = []
    for _, group in groupby(cells, key=lambda cell: (cell.arm.label, id(cell.tasks))):
        stated = list(group)
        made = view.repeats(stated[0].key)
        further = [_as_repeat(stated[0], number) for number in sorted(made) if number > len(stated)]
        settle(further, view, retry_failed=request.retry_failed)
        known = [*stated, *(cell for cell in further if cell.run_id is not None)]
        if request.retry_failed:
            open_cells = [cell for cell in known if not cell.is_done]
            asked += (open_cells or known)[-len(stated) :]
            continue
        # A system of unknown version is never done, and what it answered before is kept as well.
        first_free = max(made | {len(stated)}) + 1
        fresh = (_as_repeat(stated[0], number) for number in count(first_free))
        left = [cell for cell in known if not cell.is_done and not _is_repeated(cell, made)]
        new = list(islice(fresh, max(0, len(stated) - len(left))))
        settle(new, view, retry_failed=False)
        asked += [*left, *new][: len(stated)]
    return asked


def _is_repeated(cell: Cell, made: Collection[int]) -> bool:
    return cell.is_new and cell.repeat in made and not cell.arm.version_known


def _as_repeat(cell: Cell, number: int) -> Cell:
    """The same cell under another number, before it is known what earlier runs have done of it."""
    return replace(
        cell, repeat=number, run_id=None, run_label=None, is_new=True, is_finished=False,
        is_joining=False, todo=[], n_failed=0,
    )  # fmt: skip


def _cells_of(
    project: Project, request: Request, entry: DatasetEntry, view: LakeView
) -> list[Cell]:
    dataset = view.dataset(entry.dataset, entry.edition)
    split = entry.split or dataset.default_split
    tasks = [
        task
        for task in view.tasks(dataset, split)
        if (entry.repo is None or task.repo == entry.repo)
        and (entry.library is None or task.library == entry.library)
    ]
    if not tasks:
        raise no_tasks(entry, split, view.splits(dataset))
    if request.limit is not None:
        tasks = tasks[: request.limit]
    has_tail = "test" in view.splits(dataset)
    cells = []
    for spec in request.arms:
        refuse_unknown_wording(spec, tasks, dataset)
        own_corpus = _own_corpus(project, spec)
        corpus_id = own_corpus.stored.corpus_id if own_corpus else None
        own = [replace(task, corpus_id=corpus_id) for task in tasks] if corpus_id else tasks
        arm = bind(
            spec,
            dataset=dataset.dataset,
            edition=dataset.edition,
            seed=request.seed,
            project=project,
            corpus_id=corpus_id,
        )
        refuse_absent_corpus(arm, own, dataset)
        first = Cell(
            arm=arm,
            dataset=dataset,
            split=split,
            seed=request.seed,
            repeat=1,
            tasks=own,
            family=request.family,
            primary_metric=request.primary_metric or dataset.primary_metric,
            has_tail=has_tail,
            own_corpus=own_corpus,
        )
        cells += [_as_repeat(first, number) for number in range(1, request.repeats + 1)]
    return cells


def _own_corpus(project: Project, spec: ArmSpec) -> OwnCorpus | None:
    """The folder that an arm searches instead of the dataset's corpora, laid out here."""
    if spec.corpus_dir is None:
        return None
    name = spec.corpus_dir.name
    source = FolderSource(
        name, f"folder {name}", spec.corpus_dir, rule=TEXT.narrowed(spec.include, spec.exclude)
    )
    return OwnCorpus(source, store_corpus(project, source))


def _settle_one(cell: Cell, same: Sequence[PastRun], *, retry_failed: bool) -> None:
    wanted = {task.task_id for task in cell.tasks}
    # A system of unknown version may have changed: what it did before says nothing of now,
    # except for a run that was cut short and is asked to go on.
    if not cell.arm.version_known:
        same = [run for run in same if retry_failed and not run.finished]
    complete = [run for run in same if run.statuses.keys() == wanted]
    # Also a finished one, if its edition lacked a task or worded it otherwise.
    unfinished = [run for run in same if not run.finished or run.edition != cell.dataset.edition]
    run = next(iter(complete or unfinished), None)
    if run is None:
        cell.todo = list(cell.tasks)
        return
    again = run.failed if retry_failed else set()
    cell.run_id = run.run_id
    cell.run_label = run.label
    cell.is_new = False
    cell.is_finished = run.finished
    cell.is_joining = cell.family is not None and cell.family not in run.families
    cell.todo = [
        task for task in cell.tasks if task.task_id not in run.statuses or task.task_id in again
    ]
    cell.n_failed = len(run.failed - again)
