"""A sweep that is done adds nothing; one that was cut short loses nothing and repeats nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from driving import arm, hit_set, request, run, run_plan, running, statuses
from toy import Sweep, command, environment, ingest_toy, rows

from evalake_runners.engine.plan import Cell, make_plan
from evalake_runners.engine.progress import Progress, Step
from evalake_runners.sweeps.sweep_file import load_sweep
from evalake_runners.workers.stop import StopFlag
from evalake_warehouse.project import Project

SLOW = """\
name: slow
datasets: [{dataset: toy, split: all}]
arms:
  - {system: "python:misbehaving", config: {delay_s: 0.04}}
  - {system: random}
depth: 5
"""


def test_the_same_sweep_again_writes_no_file_and_starts_no_worker(toy: Project) -> None:
    run(toy, arm(), arm("random"))
    before = _files(toy)
    again = run(toy, arm(), arm("random", label="renamed"))
    assert [result.state for result in again] == ["done", "done"]
    assert _files(toy) == before


def test_tasks_whose_hits_are_gone_from_the_lake_are_asked_again(toy: Project) -> None:
    (first,) = run(toy, arm("random"))
    answered = {row["task_id"] for row in rows(toy, "hits")}
    for path in (toy.lake / "hits").rglob(f"{first.run_id}*.parquet"):
        path.unlink()
    (again,) = run(toy, arm("random"))
    assert again.state == "ran"
    assert {row["task_id"] for row in rows(toy, "hits")} == answered
    assert run(toy, arm("random"))[0].state == "done"


def test_what_defines_an_arm_makes_it_another_and_a_label_does_not(toy: Project) -> None:
    def hashes(*arms: object) -> list[str]:
        plan = make_plan(toy, request(*arms))  # type: ignore[arg-type]
        return [cell.arm.arm_hash for cell in plan.cells]

    one, renamed = hashes(arm(), arm(label="renamed"))
    assert one == renamed
    others = hashes(arm(depth=6), arm(everywhere="empty"), arm(version="2"), arm("random"))
    assert len({one, *others}) == 5


def test_a_system_of_unknown_version_is_never_done(toy: Project) -> None:
    first = run(toy, arm(version="unknown"))[0]
    second = run(toy, arm(version="unknown"))[0]
    assert (first.state, second.state) == ("ran", "ran")
    assert first.run_id != second.run_id


def test_repeats_seeds_and_limits_are_runs_of_their_own(toy: Project) -> None:
    run(toy, arm(), repeats=2)
    run(toy, arm(), seed=7)
    run(toy, arm(), limit=3)
    started = [row for row in rows(toy, "runs") if row["event"] == "started"]
    assert Counter((row["seed"], row["repeat"], row["n_tasks"]) for row in started) == {
        (0, 1, 12): 1, (0, 2, 12): 1, (7, 1, 12): 1, (0, 1, 3): 1,
    }  # fmt: skip


def test_an_index_is_built_once_and_a_hit_has_no_seconds(toy: Project) -> None:
    run(toy, arm(), arm(everywhere="empty", label="empty"))
    built, reused = rows(toy, "index_events")
    assert (built["cache_hit"], reused["cache_hit"]) == (False, True)
    assert built["seconds"] > 0
    assert reused["seconds"] is None
    assert (built["n_chunks"], reused["n_chunks"]) == (14, 14)
    assert built["bytes_on_disk"] == reused["bytes_on_disk"] == len("once\n")


def test_cache_off_builds_anew_and_leaves_the_stored_index_alone(toy: Project) -> None:
    run(toy, arm())
    run(toy, arm(), seed=1, reuse_indexes=False)
    assert [row["cache_hit"] for row in rows(toy, "index_events")] == [False, False]
    assert len(list(toy.indexes.glob("*/*/about.json"))) == 1


def test_resume_tries_failed_tasks_again_under_the_same_run(toy: Project) -> None:
    first = run(toy, arm(on={"task-00004": "raise"}))[0]
    assert run(toy, arm(on={"task-00004": "raise"}))[0].state == "done"
    again = run(toy, arm(on={"task-00004": "raise"}), retry_failed=True)[0]
    assert again.run_id == first.run_id
    assert again.statuses == {"error": 1}
    attempts = [row["attempt"] for row in rows(toy, "attempts") if row["task_id"] == "task-00004"]
    assert sorted(attempts) == [1, 2]
    events = Counter(row["event"] for row in rows(toy, "runs"))
    assert events == {"started": 1, "finished": 2}


def test_ctrl_c_keeps_what_is_finished_and_the_next_run_goes_on(toy: Project) -> None:
    stop = StopFlag()
    with pytest.raises(KeyboardInterrupt):
        run_plan(toy, make_plan(toy, request(arm(delay_s=0.05))), stop, Impatient(stop, after=4))
    n_kept = len(rows(toy, "attempts"))
    assert n_kept == 4
    assert [row["event"] for row in rows(toy, "runs")] == ["started"]
    (rest,) = run(toy, arm(delay_s=0.05))
    assert rest.statuses == {"ok": 12 - n_kept}
    assert {status for status, _ in statuses(toy).values()} == {"ok"}
    assert max(row["attempt"] for row in rows(toy, "attempts")) == 1
    assert len({row["run_id"] for row in rows(toy, "attempts")}) == 1


def test_a_kill_between_hits_and_attempts_neither_loses_nor_doubles_a_hit(toy: Project) -> None:
    run(toy, arm())
    undisturbed = hit_set(toy)
    (attempts,) = (toy.lake / "attempts").glob("dataset=toy/*/*.parquet")
    (finished,) = (toy.lake / "runs").glob("dataset=toy/*/*-finished-*.parquet")
    attempts.unlink()
    finished.unlink()
    (result,) = run(toy, arm())
    assert result.statuses == {"ok": 12}
    assert {row["attempt"] for row in rows(toy, "attempts")} == {2}
    assert hit_set(toy) == undisturbed
    assert len(rows(toy, "hits")) == 2 * len(undisturbed)


def test_kill_9_and_resume_give_the_rows_of_an_undisturbed_run(
    project: Project, data_dir: Path, tmp_path: Path
) -> None:
    calm = Project(home=tmp_path / "calm", data_dir=data_dir)
    killed = Project(home=tmp_path / "killed", data_dir=data_dir)
    for home in (calm, killed):
        home.home.mkdir()
        ingest_toy(home, n_tasks=150)
    run(calm, arm(), arm("random"))
    sweep = Sweep(tmp_path, SLOW)
    process = subprocess.Popen(
        command("run", str(sweep.path), "--confirm", "test"), env=environment(killed),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    shard = killed.lake / "attempts"
    _wait_for(lambda: any(shard.glob("dataset=toy/*/*.parquet")))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    n_kept = len(rows(killed, "attempts"))
    assert 100 <= n_kept < 300
    arms = load_sweep(sweep.path, killed).arms
    run(killed, *arms, retry_failed=True)
    assert hit_set(killed) == hit_set(calm)
    assert len(rows(killed, "attempts")) == 300  # nothing done was repeated
    before = _files(killed)
    assert [result.state for result in run(killed, *arms)] == ["done", "done"]
    assert _files(killed) == before


def test_ctrl_c_on_the_command_ends_with_130(
    project: Project, data_dir: Path, tmp_path: Path
) -> None:
    home = Project(home=project.home, data_dir=data_dir)
    ingest_toy(home, n_tasks=150)
    sweep = Sweep(tmp_path, SLOW)
    process = subprocess.Popen(
        command("run", str(sweep.path), "--confirm", "test"), env=environment(home),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    _wait_for(lambda: any((home.indexes / "misbehaving").glob("*/about.json")))
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "hint: evalake resume" in err
    assert "Traceback" not in err


def test_money_that_is_spent_stops_the_sweep_and_is_not_forgotten(toy: Project) -> None:
    dear = arm(cost_usd=0.02)
    (first,) = run(toy, dear, limits={"max_cost_usd": 0.05})
    assert (first.state, first.statuses, first.n_left) == ("stopped", {"ok": 3}, 9)
    assert first.message == "stopped at limits.max_cost_usd"
    (again,) = run(toy, dear, limits={"max_cost_usd": 0.05})
    assert (again.run_id, again.statuses.total(), again.n_left) == (first.run_id, 0, 9)
    (rest,) = run(toy, dear, limits={"max_cost_usd": 1.0})
    assert (rest.run_id, rest.state, rest.statuses) == (first.run_id, "ran", {"ok": 9})


def test_a_killed_sweep_leaves_no_process_behind(
    project: Project, data_dir: Path, tmp_path: Path
) -> None:
    home = Project(home=project.home, data_dir=data_dir)
    ingest_toy(home)
    mark = f"hung-child-{os.getpid()}"
    text = SLOW.replace("delay_s: 0.04", f"everywhere: hang, mark: {mark}")
    process = subprocess.Popen(
        command("run", str(Sweep(tmp_path, text).path), "--confirm", "test"), env=environment(home)
    )
    _wait_for(lambda: running(mark))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    _wait_for(lambda: not running(mark), seconds=10)


def test_two_processes_do_not_run_one_cell_twice(
    project: Project, data_dir: Path, tmp_path: Path
) -> None:
    home = Project(home=project.home, data_dir=data_dir)
    ingest_toy(home, n_tasks=30)
    sweep = Sweep(tmp_path, SLOW)
    arguments = command("run", str(sweep.path), "--confirm", "test", "--json")
    both = [
        subprocess.Popen(arguments, env=environment(home), stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in both:
        process.communicate(timeout=60)
    assert len(rows(home, "attempts")) == 60
    assert sum(row["event"] == "started" for row in rows(home, "runs")) == 2


class Impatient(Progress):
    """Asks to stop after some tasks, as Ctrl-C does."""

    def __init__(self, stop: StopFlag, after: int) -> None:
        super().__init__()
        self.stop, self.left = stop, after

    @contextmanager
    def cell(self, cell: Cell) -> Iterator[Step]:
        del cell
        yield self

    def advance(self, *, failed: bool) -> None:
        del failed
        self.left -= 1
        if self.left == 0:
            self.stop.request()

    def note(self, text: str) -> None:
        pass


def _files(project: Project) -> set[str]:
    return {
        str(file.relative_to(project.home)) for file in project.lake.rglob("*") if file.is_file()
    }


def _wait_for(condition: object, seconds: float = 40.0) -> None:
    until = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < until
        time.sleep(0.02)
