"""Before a dataset is used: a perfect system must score 1 on every task, and an empty one 0.

The proof runs through the same SQL as every later run, in a scratch lake that is thrown away.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evalake_ingest.editions.edition import Edition
from evalake_ingest.editions.gold_answers import GoldHit, load_gold_hits
from evalake_ingest.editions.pipeline import write_edition
from evalake_ingest.rankings.answers import ImportedAnswer, ImportedHit, Ranking
from evalake_ingest.rankings.write_run import write_ranking
from evalake_warehouse.errors import DatasetError, Problem
from evalake_warehouse.project import Project
from evalake_warehouse.scratch import scratch_folder
from evalake_warehouse.vocabulary import Relation

METRIC = "ap"
_MODELS = ("+fct_task_metrics",)  # all that the proof reads
_MAX_SHOWN = 20


def check_edition(project: Project, edition: Edition) -> None:
    """Score `gold` and `empty` on every task of an edition, and `gold` by each relation alone.

    Raises:
        DatasetError: with the tasks that `gold` does not score 1 on, or `empty` not 0.
    """
    from evalake_warehouse.build.dbt_runner import share_parsed

    with scratch_folder(Path(tempfile.gettempdir()), "evalake-check-") as folder:
        scratch = _scratch_project(project, folder)
        write_edition(project, edition, scratch.lake)
        expected = _write_controls(scratch, edition)
        share_parsed(project, scratch)
        _build_apart(scratch)
        share_parsed(scratch, project)
        problems = _judge(scratch, expected)
    if problems:
        shown = problems[:_MAX_SHOWN]
        if len(problems) > len(shown):
            shown.append(Problem(edition.info.name, f"{len(problems) - len(shown)} more tasks"))
        error = DatasetError("\n".join(map(str, shown)))
        error.problems = tuple(shown)
        raise error


def _build_apart(scratch: Project) -> None:
    """Build in a process of its own, whose memory goes when it ends."""
    from concurrent.futures.process import BrokenProcessPool

    from evalake_warehouse.build import build
    from evalake_warehouse.processes import spawned_pool

    for is_last in (False, True):
        try:
            with spawned_pool(1) as pool:
                pool.submit(build, scratch, models=_MODELS).result()
            return
        except BrokenProcessPool as error:
            if is_last:
                what = "the process that proves it was killed, twice (out of memory?)"
                raise DatasetError(what, where="check") from error


def _scratch_project(project: Project, folder: Path) -> Project:
    """A project with an empty lake, and the corpora of the real project."""
    scratch = replace(project, home=folder)
    try:
        scratch.corpora.symlink_to(project.corpora, target_is_directory=True)
    except OSError:  # no links on this file system
        shutil.copytree(project.corpora, scratch.corpora)
    return scratch


def _write_controls(scratch: Project, edition: Edition) -> dict[str, tuple[str, dict[str, float]]]:
    """Write the control runs; what each task must score, per run id."""
    dataset, identity = edition.info.name, edition.edition
    hits = load_gold_hits(scratch, dataset, identity)
    relevant = [task_id for task_id, found in hits.items() if found]
    expected: dict[str, tuple[str, dict[str, float]]] = {}

    def add(label: str, answers: Mapping[str, Sequence[GoldHit]], score: float) -> None:
        tasks = {task_id: score for task_id in answers if task_id in relevant}
        if tasks:
            ranking = _ranking(label, answers)
            expected[write_ranking(scratch, dataset, identity, ranking).run_id] = (label, tasks)

    add("gold", hits, 1.0)
    add("empty", dict.fromkeys(hits, ()), 0.0)
    for relation in _relations(edition):
        alone = load_gold_hits(scratch, dataset, identity, relation=relation)
        # Only tasks whose every gold item can be recognised that way can score 1.
        whole = {
            task_id: found
            for task_id, found in alone.items()
            if found and len(found) == len(hits[task_id])
        }
        add(f"gold by {relation}", whole, 1.0)
    return expected


def _relations(edition: Edition) -> list[Relation]:
    level = edition.info.primary_level
    return sorted(
        {
            qrel.relation
            for task in edition.tasks
            for item in task.gold
            if item.level == level
            for qrel in item.qrels
        }
    )


def _ranking(label: str, answers: Mapping[str, Sequence[GoldHit]]) -> Ranking:
    return Ranking(
        label=label,
        source_format="control",
        source_name=label,
        source_sha256=label,
        answers={
            task_id: ImportedAnswer(
                [
                    ImportedHit(
                        item_id=hit.item_id,
                        path=hit.path,
                        start_line=hit.start_line,
                        end_line=hit.end_line,
                        qualified_name=hit.qualified_name,
                        doc_id=hit.doc_id,
                        text=hit.text,
                    )
                    for hit in found
                ]
            )
            for task_id, found in answers.items()
        },
    )


def _judge(
    scratch: Project, expected: Mapping[str, tuple[str, Mapping[str, float]]]
) -> list[Problem]:
    import duckdb

    query = "select task_id, value from fct_task_metrics where run_id = ? and metric = ?"
    problems: list[Problem] = []
    with duckdb.connect(str(scratch.warehouse.resolve()), read_only=True) as connection:
        for run_id, (label, tasks) in expected.items():
            scores = dict(connection.execute(query, [run_id, METRIC]).fetchall())
            problems += [
                Problem(task_id, f"{label} scores {scores.get(task_id)}, expected {score}")
                for task_id, score in sorted(tasks.items())
                if scores.get(task_id) != score
            ]
    return problems
