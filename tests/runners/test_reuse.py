"""Evidence outlives its gold: what was asked once is not asked again for another edition."""

from __future__ import annotations

from driving import arm, request, run, statuses
from toy import ingest_toy, rows

from evalake_runners.engine.plan import Cell, make_plan
from evalake_warehouse.project import Project


def cell(project: Project, *arms: object, **changed: object) -> Cell:
    [planned] = make_plan(project, request(*(arms or (arm(),)), **changed)).cells  # type: ignore[arg-type]
    return planned


def test_another_gold_leaves_a_cell_done(toy: Project) -> None:
    (first,) = run(toy, arm())
    ingest_toy(toy, grade=2)
    planned = cell(toy)
    assert (planned.state, planned.run_id, planned.todo) == ("done", first.run_id, [])
    assert len({row["edition"] for row in rows(toy, "datasets")}) == 2


def test_only_what_is_new_or_reworded_is_asked_and_the_run_goes_on(toy: Project) -> None:
    (first,) = run(toy, arm())
    ingest_toy(toy, n_tasks=13, wordings={3: "Where is it?"})
    planned = cell(toy)
    assert {task.task_id for task in planned.todo} == {"task-00003", "task-00012"}
    (again,) = run(toy, arm())
    assert (again.run_id, again.state) == (first.run_id, "ran")
    assert len(rows(toy, "attempts")) == 12 + 2
    assert len(statuses(toy)) == 13
    assert cell(toy).state == "done"


def test_going_back_to_the_first_edition_finds_its_answers(toy: Project) -> None:
    run(toy, arm())
    ingest_toy(toy, wordings={3: "Where is it?"})
    run(toy, arm())
    ingest_toy(toy)
    assert cell(toy).state == "done"


def test_another_corpus_is_asked_anew(toy: Project) -> None:
    run(toy, arm())
    ingest_toy(toy, name="toy", corpora=[_grown()])
    assert len(cell(toy).todo) == 12
    assert cell(toy).is_new


def test_a_limited_run_stands_for_the_same_tasks_of_another_gold_alone(toy: Project) -> None:
    run(toy, arm(), limit=3)
    ingest_toy(toy, grade=2)
    assert cell(toy, limit=3).state == "done"
    assert cell(toy, limit=4).is_new
    assert cell(toy).is_new


def test_the_gold_control_is_asked_again_for_another_gold(toy: Project) -> None:
    run(toy, arm("gold"))
    ingest_toy(toy, grade=2)
    assert cell(toy, arm("gold")).is_new


def _grown() -> object:
    from toy import ToyCorpus, toy_files

    return ToyCorpus({**toy_files(), "pkg/new.py": b"x = 1\n"})
