"""Which edition judges which run, and in which order editions and runs arrive."""

from __future__ import annotations

import time

import pytest
from lake_factory import RunWriter, docs, write_dataset

from evalake_warehouse.errors import UsageError
from evalake_warehouse.lake.arrivals import next_id
from evalake_warehouse.lake.editions import read_editions
from evalake_warehouse.lake.judgements import Judges, read_asked
from evalake_warehouse.lake.reader import list_lake
from evalake_warehouse.project import Project

TASKS = {"t1": {"a": 1}, "t2": {"b": 1}}


def run_of(project: Project, edition: str, *tasks: str, n_tasks: int | None = None) -> RunWriter:
    run = RunWriter(project.home, edition)
    run.event("started", n_tasks=n_tasks or len(tasks))
    run.attempts({task: docs("a") for task in tasks})
    return run


def judged(
    project: Project, run: RunWriter, pinned: dict[str, str] | None = None
) -> list[tuple[str, int]]:
    listing = list_lake(project.home)
    asked = read_asked(listing.by_run[run.run_id])
    assert asked is not None
    found = Judges(listing, pinned or {}).all(asked)
    return [(judgement.edition, judgement.n_tasks) for judgement in found]


def test_the_latest_edition_with_the_same_questions_judges_first(project: Project) -> None:
    first = write_dataset(project.home, TASKS)
    run = run_of(project, first, "t1", "t2")
    mended = write_dataset(project.home, {"t1": {"a": 2}, "t2": {"b": 1}})
    assert judged(project, run) == [(mended, 2), (first, 2)]
    assert judged(project, run, {"toy": first[:6]}) == [(first, 2), (mended, 2)]


def test_a_task_that_came_or_went_changes_how_many_are_judged(project: Project) -> None:
    first = write_dataset(project.home, TASKS)
    whole, part = run_of(project, first, "t1", "t2"), run_of(project, first, "t2")
    more = write_dataset(project.home, {**TASKS, "t3": {"c": 1}})
    fewer = write_dataset(project.home, {"t2": {"b": 1}})
    assert judged(project, whole) == [(fewer, 1), (more, 3), (first, 2)]
    # It was asked for one task of two, so a third is none of its own.
    assert judged(project, part) == [(fewer, 1), (more, 1), (first, 1)]


def test_a_reworded_question_or_another_corpus_is_no_correction_of_gold(project: Project) -> None:
    first = write_dataset(project.home, TASKS)
    run, other = run_of(project, first, "t1", "t2"), run_of(project, first, "t2", n_tasks=1)
    write_dataset(project.home, TASKS, edition="moved", corpus_id="c1")
    reworded = write_dataset(project.home, TASKS, edition="reworded", queries={"t1": "new"})
    assert judged(project, run) == [(first, 2)]
    assert judged(project, other) == [(reworded, 1), (first, 1)]  # it was never asked t1


def test_an_answer_to_the_new_wording_makes_a_run_one_of_the_new_edition(project: Project) -> None:
    first = write_dataset(project.home, TASKS)
    run = run_of(project, first, "t1", "t2")
    reworded = write_dataset(project.home, TASKS, edition="reworded", queries={"t1": "new"})
    run.edition = reworded
    run.attempts({"t1": docs("a")}, attempt=2)
    assert judged(project, run) == [(reworded, 2), (first, 2)]


def test_a_part_of_a_benchmark_does_not_judge_runs_of_the_whole(project: Project) -> None:
    first = write_dataset(project.home, TASKS)
    run = run_of(project, first, "t1", "t2")
    write_dataset(project.home, {"t1": {"a": 1}}, selection_json='{"repo":["flask"]}')
    assert judged(project, run) == [(first, 2)]


def test_the_gold_control_is_judged_by_the_gold_it_was_made_from(project: Project) -> None:
    first = write_dataset(project.home, TASKS)
    run = RunWriter(project.home, first, arm_label="gold")
    run.event("started", n_tasks=2)
    write_dataset(project.home, {"t1": {"z": 1}, "t2": {"b": 1}})
    assert judged(project, run) == [(first, 2)]


def test_a_pin_that_names_no_edition_or_several_is_refused(project: Project) -> None:
    write_dataset(project.home, TASKS, edition="ab1")
    write_dataset(project.home, TASKS, edition="ab2")
    for pin in ("ab", "x"):
        with pytest.raises(UsageError, match="there are: ab2, ab1"):
            Judges(list_lake(project.home), {"toy": pin})


def test_other_questions_are_those_that_differ_or_are_gone(project: Project) -> None:
    write_dataset(project.home, {**TASKS, "t3": {"c": 1}}, edition="old")
    write_dataset(project.home, TASKS, edition="new", queries={"t1": "reworded"})
    found = list(Judges(list_lake(project.home)).other_questions("toy", "default", "new"))
    assert {(other.asked_edition, other.task_id) for other in found} == {
        ("old", "t1"),
        ("old", "t3"),
    }


def test_ids_never_go_back_when_the_clock_does(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_900_000_000_000_000_000)
    wrong = next_id(project.home)
    monkeypatch.undo()
    ids = [next_id(project.home) for _ in range(3)]
    assert [wrong, *ids] == sorted({wrong, *ids})


def test_a_lake_copied_without_its_note_goes_on_after_its_last_id(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_900_000_000_000_000_000)
    edition = write_dataset(project.home, TASKS)
    [row] = read_editions(project.lake)
    monkeypatch.undo()
    (project.home / "last-arrival").write_text("torn")
    assert next_id(project.home) > row["arrival_id"]
    monkeypatch.setattr(time, "time_ns", lambda: 1_950_000_000_000_000_000)
    run = RunWriter(project.home, edition)
    run.event("started", n_tasks=1)
    monkeypatch.undo()
    (project.home / "last-arrival").unlink()
    assert next_id(project.home) > run.run_id
