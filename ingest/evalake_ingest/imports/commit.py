"""One import: a dataset, a ranking or both, in the lake together or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalake_ingest.corpora.store import open_corpus
from evalake_ingest.editions.catalogue import list_editions
from evalake_ingest.editions.edition import Edition, dataset_row, make_edition
from evalake_ingest.editions.pipeline import Ingested, Progress, latest_edition, stage_edition
from evalake_ingest.names import absent_dataset, ingested_names
from evalake_ingest.publish import staged
from evalake_ingest.rankings.answers import Ranking
from evalake_ingest.rankings.notes import identical_ids_note, short_list_note
from evalake_ingest.rankings.write_run import ImportedRun, write_ranking
from evalake_ingest.records import Loaded
from evalake_warehouse.project import Project


@dataclass(frozen=True, slots=True)
class Imported:
    """What one import did."""

    edition: str
    dataset: Ingested | None  # None where a ranking joined a dataset of the lake
    run: ImportedRun | None
    notes: tuple[str, ...]  # what whoever reads scores should know


def import_all(
    project: Project, name: str, loaded: Loaded | None, ranking: Ranking | None, *, step: Progress
) -> Imported:
    """Write what was loaded; the same content with the same options again adds nothing.

    Args:
        name: of the dataset.
        loaded: the dataset; None for the one of that name in the lake.

    Raises:
        EvalakeError: nothing was kept, or the ranking does not fit; the lake is as it was.
    """
    made: Edition | None = None
    if loaded is not None:
        step("laying out the corpus and checking gold against it")
        made = make_edition(project, loaded)
    with staged(project, name) as lake:
        edition = made.edition if made else latest_edition(project.lake, name)
        if edition is None:
            raise absent_dataset(name, ingested_names(project.lake))
        dataset = stage_edition(project, made, lake, check=None, step=step) if made else None
        declared = dataset_row(made, "") if made else _declared(project, name, edition)
        notes: list[str | None] = []
        run = None
        if ranking is not None:
            run = write_ranking(project, name, edition, ranking, lake=lake)
            short = short_list_note(
                project, str(declared["primary_metric"]), run.depth,
                longest=run.longest, asked=ranking.depth, is_declared_here=made is not None,
            )  # fmt: skip
            notes = [short, *run.notes]
        if not declared["ignore_identical_ids"]:
            notes.append(_identical_ids(project, made, ranking, run))
        return Imported(edition, dataset, run, tuple(filter(None, notes)))


def _declared(project: Project, name: str, edition: str) -> Mapping[str, Any]:
    """The row of an edition of the lake."""
    return next(
        row
        for row in list_editions(project.lake)
        if (row["dataset"], row["edition"]) == (name, edition)
    )


def _identical_ids(
    project: Project, made: Edition | None, ranking: Ranking | None, run: ImportedRun | None
) -> str | None:
    tasks = {task.task_id for task in made.tasks} if made else set()
    if ranking is not None and run is not None:
        tasks |= ranking.answers.keys() - set(run.unknown_tasks)
    corpora = [open_corpus(project, one) for one in made.sources] if made else []
    documents = {doc for corpus in corpora if corpus.kind == "documents" for doc in corpus.paths}
    return identical_ids_note(tasks, documents, ranking)
