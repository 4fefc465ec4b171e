"""A run that is done is not run again for another sweep; it joins that sweep's family instead."""

from __future__ import annotations

from typing import Any

from driving import arm, request, run
from toy import Sweep, evalake, rows

from evalake_runners.engine.plan import make_plan
from evalake_warehouse.project import Project

TWO_ARMS = """\
name: {name}
datasets: [{{dataset: toy, split: all}}]
baseline: {baseline}
primary_metric: {metric}
arms:
  - {{system: "python:misbehaving", label: shared}}
  - {{system: {other}}}
depth: 5
"""


def events(project: Project, event: str) -> list[dict[str, Any]]:
    return [row for row in rows(project, "runs") if row["event"] == event]


def test_a_second_sweep_takes_in_what_it_shares_with_the_first_and_runs_the_rest(
    toy: Project,
) -> None:
    first = Sweep(
        toy.home,
        TWO_ARMS.format(name="first", baseline="shared", metric="recall@5", other="random"),
        "first.yaml",
    )
    second = Sweep(
        toy.home,
        TWO_ARMS.format(name="second", baseline="gold", metric="mrr", other="gold"),
        "second.yaml",
    )
    reason = ("--confirm", "a test")
    assert evalake(toy, "run", str(first.path), *reason).code == 0
    n_attempts = len(rows(toy, "attempts"))

    planned = evalake(toy, "plan", str(second.path))
    assert events(toy, "joined") == []
    assert [line.split()[0] for line in planned.out.splitlines() if "done" in line] == ["shared"]

    assert evalake(toy, "run", str(second.path), *reason).code == 0
    [joined] = events(toy, "joined")
    [begun] = [row for row in events(toy, "started") if row["arm_label"] == "shared"]
    same = ("run_id", "arm_hash", "dataset", "edition", "split", "seed", "repeat", "n_tasks")
    assert [joined[name] for name in same] == [begun[name] for name in same]
    of_family = ("family", "sweep_id", "role", "primary_metric")
    assert [begun[name] for name in of_family] == ["first", "first", "baseline", "recall@5"]
    assert [joined[name] for name in of_family] == ["second", "second", "candidate", "mrr"]
    assert len(rows(toy, "attempts")) == n_attempts + 12  # of `gold` alone

    for verb in ("run", "resume"):
        again = evalake(toy, verb, str(second.path), *reason)
        assert (again.code, len(events(toy, "joined"))) == (0, 1)
    assert evalake(toy, "run", str(first.path), *reason).code == 0
    assert len(events(toy, "joined")) == 1


def test_the_file_of_a_joined_row_is_named_after_its_run(toy: Project) -> None:
    [result] = run(toy, arm(), family="first")
    run(toy, arm(), family="second")
    run(toy, arm(), family="third")
    stems = [path.stem for path in (toy.lake / "runs").rglob("*-joined-*.parquet")]
    assert len(stems) == len(set(stems)) == 2
    assert all(
        stem.startswith(f"{result.run_id}-joined-") and len(stem.rpartition("-")[2]) == 8
        for stem in stems
    )


def test_a_run_without_a_sweep_file_joins_nothing(toy: Project) -> None:
    run(toy, arm(), family="first")
    [again] = run(toy, arm())
    assert again.state == "done"
    assert events(toy, "joined") == []


def test_a_run_that_belongs_to_no_family_can_join_one(toy: Project) -> None:
    run(toy, arm())
    run(toy, arm(), family="first")
    assert [row["family"] for row in events(toy, "joined")] == ["first"]


def test_a_sweep_that_ends_the_run_of_another_takes_it_in_too(toy: Project) -> None:
    [begun] = run(toy, arm(on={"03": "raise"}), family="first")
    [plan] = make_plan(toy, request(arm(on={"03": "raise"}), retry_failed=True)).cells
    assert plan.state == "resumes"
    [ended] = run(toy, arm(on={"03": "raise"}), family="second", retry_failed=True)
    assert (ended.state, ended.run_id) == ("ran", begun.run_id)
    run(toy, arm(on={"03": "raise"}), family="second", retry_failed=True)
    assert [row["family"] for row in events(toy, "joined")] == ["second"]

    # Nor does it belong there for having been ended there.
    [joined] = (toy.lake / "runs").rglob("*-joined-*.parquet")
    joined.unlink()
    run(toy, arm(on={"03": "raise"}), family="second")
    assert [row["family"] for row in events(toy, "joined")] == ["second"]
