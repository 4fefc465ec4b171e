"""Whatever a system does costs the task at hand, never the sweep."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from driving import arm, hit_set, run, running, statuses
from toy import ToyCorpus, ingest_toy, rows, toy_files

from evalake_warehouse.project import Project


def test_each_failure_is_the_status_of_its_own_task(toy: Project) -> None:
    on = {
        "0": "raise", "1": "recurse", "2": "exit", "3": "crash", "4": "wrong_type",
        "5": "wrong_field", "6": "not_attempted", "7": "empty",
    }  # fmt: skip
    (result,) = run(toy, arm(on={f"task-0000{end}": what for end, what in on.items()}))
    found = {task[-2:]: pair for task, pair in statuses(toy).items()}
    assert found["00"] == ("error", "ValueError: it went wrong")
    assert found["01"][0] == "error"
    assert (found["01"][1] or "").startswith("RecursionError")
    assert found["02"] == ("error", "SystemExit: 3")
    assert found["03"] == ("error", "worker was killed by SIGSEGV: last words of the system")
    assert found["04"] == ("error", "TypeError: search returned list, not Answer")
    assert found["05"][1] == "TypeError: raw_path is PosixPath, not str"
    assert found["06"] == ("not_attempted", "its documentation says: locate only")
    assert found["07"] == ("empty", None)
    assert {found[f"{n:02d}"][0] for n in range(8, 12)} == {"ok"}
    assert result.n_failed == 6
    assert result.state == "ran"


def test_a_hang_that_ignores_sigterm_is_a_timeout_and_leaves_no_process(toy: Project) -> None:
    run(toy, arm(on={"task-00003": "hang"}, mark="hung-child-of-a-test"), limits={"timeout_s": 1.5})
    found = statuses(toy)
    assert found["task-00003"] == ("timeout", "no answer in 1.5 s")
    assert sum(status == "ok" for status, _ in found.values()) == 11
    assert not running("hung-child-of-a-test")


def test_odd_output_is_kept_as_far_as_it_is_legal(toy: Project) -> None:
    on = {"0": "garbage", "1": "surrogates", "2": "large", "3": "nan"}
    run(toy, arm(on={f"task-0000{end}": what for end, what in on.items()}))
    assert {status for status, _ in statuses(toy).values()} == {"ok"}
    hits = {row["task_id"]: row for row in rows(toy, "hits") if row["rank"] == 1}
    assert hits["task-00001"]["title"] == "a\ufffdb"
    assert hits["task-00001"]["path_status"] == "unresolved"
    assert hits["task-00003"]["score"] is None
    assert hits["task-00003"]["start_line"] is None
    large = next(row for row in rows(toy, "attempts") if row["task_id"] == "task-00002")
    assert large["payload_bytes"] == 10_000_000
    assert max(len(row["text"]) for row in rows(toy, "texts")) == 10_000_000


def test_a_failed_index_is_the_reason_of_every_task_and_the_next_arm_runs(toy: Project) -> None:
    broken, crashed, fine = run(
        toy,
        arm(index="raise", label="broken"),
        arm(index="crash", label="crashed"),
        arm(label="fine"),
    )
    assert broken.statuses == {"error": 12}
    assert crashed.statuses == {"error": 12}
    assert fine.statuses == {"ok": 12}
    events = {row["run_id"]: row for row in rows(toy, "index_events")}
    assert events[broken.run_id or ""]["reason"] == "ValueError: it went wrong"
    assert "SIGSEGV" in events[crashed.run_id or ""]["reason"]
    ended = {
        row["run_id"]: row["status"] for row in rows(toy, "runs") if row["event"] == "finished"
    }
    assert ended == {
        broken.run_id: "incomplete", crashed.run_id: "incomplete", fine.run_id: "finished",
    }  # fmt: skip


def test_an_index_that_cannot_be_opened_fails_its_corpus_and_no_other(
    project: Project, tmp_path: Path
) -> None:
    ingest_toy(project, corpora=[ToyCorpus(toy_files()), ToyCorpus(toy_files(13), name="other")])
    (result,) = run(project, arm(opening="raise"))
    assert result.statuses == {"error": 12}
    reasons = {reason for _, reason in statuses(project).values()}
    assert reasons == {"opening: ValueError: it went wrong"}


def test_a_secret_reaches_neither_lake_nor_message(
    toy: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_API_KEY", "sesame-open-42")
    run(toy, arm(everywhere="secret"))
    (reason,) = {reason for _, reason in statuses(toy).values()}
    assert reason == "ValueError: 401 for key *** in Bearer ***"
    for file in toy.lake.rglob("*.parquet"):
        assert b"sesame-open-42" not in file.read_bytes()


def test_a_local_arm_is_kept_off_the_network_and_the_run_says_so(toy: Project) -> None:
    run(toy, arm(on={"task-00000": "network"}))
    status, reason = statuses(toy)["task-00000"]
    assert status == "error"
    assert "the network is blocked in this run" in (reason or "")
    finished = [row for row in rows(toy, "runs") if row["event"] == "finished"]
    assert [row["network_blocked"] for row in finished] == [True]


def test_two_jobs_find_what_one_finds(toy: Project) -> None:
    run(toy, arm())
    one = hit_set(toy)
    run(toy, arm(label="again"), seed=1, limits={"jobs": 2})
    assert hit_set(toy) == one
    assert len(one) == 12 * 5


def test_a_task_without_the_wording_asked_for_is_not_attempted(toy: Project) -> None:
    ingest_toy(toy, stripped={1: "topic1"})
    (result,) = run(toy, replace(arm(), query_variant="stripped"))
    assert result.statuses == {"not_attempted": 11, "ok": 1}
    assert statuses(toy)["task-00000"][1] == "the task has no wording `stripped`"


def test_the_first_query_of_a_fresh_searcher_is_cold_and_phases_are_kept(toy: Project) -> None:
    run(toy, arm(on={"task-00003": "crash"}))
    timings = Counter((row["phase"], row["temperature"]) for row in rows(toy, "timings"))
    # The crash of one task costs a worker, so two searchers were opened for the other eleven.
    assert timings == {
        ("open", "cold"): 2, ("search", "cold"): 2, ("search", "warm"): 9, ("rank", "cold"): 2,
        ("rank", "warm"): 9,
    }  # fmt: skip
    assert all(row["seconds"] < 20 for row in rows(toy, "timings"))
