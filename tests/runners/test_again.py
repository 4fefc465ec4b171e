"""`--again`: what is done is asked once more, as a repeat of its own."""

from __future__ import annotations

import json
from dataclasses import replace

from driving import arm, request, run
from toy import evalake, rows

from evalake_runners.engine.plan import make_plan
from evalake_warehouse.project import Project


def _planned(project: Project, *arms: object, **changed: object) -> list[tuple[int, str]]:
    plan = make_plan(project, request(*arms, **changed))  # type: ignore[arg-type]
    return [(cell.repeat, cell.state) for cell in plan.cells]


def test_a_done_cell_becomes_a_new_repeat_and_the_old_run_stays(toy: Project) -> None:
    (first,) = run(toy, arm())
    before = {path: path.read_bytes() for path in toy.lake.rglob(f"{first.run_id}*")}
    (second,) = run(toy, arm(), again=True)
    (third,) = run(toy, arm(), again=True)
    assert [r.cell.repeat for r in (first, second, third)] == [1, 2, 3]
    assert {r.statuses["ok"] for r in (first, second, third)} == {12}
    assert len({r.run_id for r in (first, second, third)}) == 3
    assert all(path.read_bytes() == content for path, content in before.items())
    assert _planned(toy, arm()) == [(1, "done")]


def test_what_is_not_done_is_run_as_it_would_be_without(toy: Project) -> None:
    assert _planned(toy, arm(), again=True) == [(1, "new")]
    run(toy, arm())
    assert _planned(toy, arm(), arm("random"), again=True) == [(2, "new"), (1, "new")]
    assert _planned(toy, arm(), seed=3, again=True) == [(1, "new")]
    assert _planned(toy, arm(), limit=3, again=True) == [(1, "new")]


def test_each_repeat_of_a_sweep_is_asked_once_more(toy: Project) -> None:
    run(toy, arm(), repeats=2)
    assert _planned(toy, arm(), repeats=2, again=True) == [(3, "new"), (4, "new")]
    assert _planned(toy, arm(), repeats=3, again=True) == [(3, "new"), (4, "new"), (5, "new")]


def test_the_number_is_above_every_repeat_there_is_whatever_its_tasks(toy: Project) -> None:
    run(toy, arm(), repeats=3, limit=2)
    run(toy, arm())
    assert _planned(toy, arm(), again=True) == [(4, "new")]


def test_a_repeat_that_was_cut_short_is_gone_on_with(toy: Project) -> None:
    run(toy, arm(cost_usd=1.0))
    run(toy, arm(cost_usd=1.0), again=True, limits={"max_cost_usd": 5.0})
    assert _planned(toy, arm(cost_usd=1.0), again=True) == [(2, "resumes")]
    assert _planned(toy, arm(cost_usd=1.0), again=True, retry_failed=True) == [(2, "resumes")]


def test_a_run_whose_tasks_failed_is_asked_anew_and_resume_goes_on_with_the_last(
    toy: Project,
) -> None:
    broken = arm(on={"task-00004": "raise"})
    run(toy, broken)
    assert run(toy, broken, again=True)[0].cell.repeat == 2
    assert _planned(toy, broken, again=True) == [(3, "new")]
    (resumed,) = run(toy, broken, again=True, retry_failed=True)
    assert (resumed.cell.repeat, resumed.statuses) == (2, {"error": 1})
    run(toy, arm())
    assert _planned(toy, arm(), again=True, retry_failed=True) == [(1, "done")]


def test_an_arm_of_unknown_version_gets_a_number_of_its_own(toy: Project) -> None:
    run(toy, arm(version="unknown"))
    assert run(toy, arm(version="unknown"), again=True)[0].cell.repeat == 2


def test_two_parts_of_a_dataset_are_two_cells(toy: Project) -> None:
    run(toy, arm())
    asked = request(arm(), again=True)
    plan = make_plan(toy, replace(asked, datasets=asked.datasets * 2))
    assert [cell.repeat for cell in plan.cells] == [2, 2]


def test_the_command_names_the_flag_where_a_cell_is_done(toy: Project) -> None:
    flags = ("--system", "random", "--dataset", "toy", "--confirm", "a test")
    assert evalake(toy, "run", *flags).code == 0
    done = evalake(toy, "run", *flags)
    assert "1 done before; --again asks once more" in done.err
    assert "--again asks once more" in evalake(toy, "plan", *flags).err
    planned = json.loads(evalake(toy, "plan", *flags, "--again", "--json").out)
    assert [(row["repeat"], row["state"]) for row in planned] == [(2, "new")]
    ran = evalake(toy, "run", *flags, "--again")
    assert ran.code == 0
    assert "repeat" in ran.out
    assert sorted(row["repeat"] for row in rows(toy, "runs") if row["event"] == "started") == [1, 2]
