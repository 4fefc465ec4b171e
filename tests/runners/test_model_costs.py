"""What a language model costs is recorded whatever becomes of a task, and budgets are a run's."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from driving import run, statuses
from tests.pydocs.fake_llm import FakeLlm, completion, picks, serve
from toy import rows

from evalake_runners.adapters.ledger import BudgetSpentError, Ledger, LedgerPlace, Used
from evalake_runners.sweeps.arms import ArmSpec
from evalake_warehouse.project import Project

# 1,000 tokens in and 100 out, at $10 a million of either.
CALL_USD = 0.011


def reranking(toy: Project, fake: FakeLlm, **llm: Any) -> ArmSpec:
    settings = {
        "base_url": fake.base_url, "model": "m", "api_key_env": None, "prompt_size": "estimate",
        "usd_per_million_input": 10, "usd_per_million_output": 10, **llm,
    }  # fmt: skip
    config = {"pipeline": "pipelines/lexical_tree_rerank.yaml", "llm": settings}
    return ArmSpec("llm", "pydocs-mcp", config, depth=5, base_dirs=(toy.configs,))


def test_a_task_that_fails_after_it_paid_keeps_its_cost(toy: Project) -> None:
    prose, refused = completion("I would look into module 3."), (400, {}, "too long")
    unreadable = (200, {}, '{"usage": {"prompt_tokens": 500, "completion_tokens": 0}, "x": 1}')
    with serve(FakeLlm([prose, refused, unreadable, picks()])) as fake:
        (result,) = run(toy, reranking(toy, fake), limit=4)
    assert result.statuses == {"error": 3, "ok": 1}
    attempts = sorted(rows(toy, "attempts"), key=lambda row: row["started_at"])
    assert [(row["status"], row["n_tool_calls"], row["cost_usd"]) for row in attempts] == [
        ("error", 1, pytest.approx(CALL_USD)),
        ("error", 1, None),  # refused: nothing was paid for
        ("error", 1, pytest.approx(0.005)),
        ("ok", 1, pytest.approx(CALL_USD)),
    ]
    timed = {
        row["task_id"]: row["seconds"] for row in rows(toy, "timings", "*") if row["phase"] == "llm"
    }
    assert timed.keys() == {row["task_id"] for row in attempts}
    assert all(seconds > 0 for seconds in timed.values())


def test_failed_tasks_count_towards_what_a_sweep_may_cost(toy: Project) -> None:
    with serve(FakeLlm([completion("prose")])) as fake:
        (result,) = run(toy, reranking(toy, fake), limits={"max_cost_usd": 0.03})
    assert (result.state, result.statuses, len(fake.requests)) == ("stopped", {"error": 3}, 3)


def test_a_call_limit_holds_for_all_workers_of_a_run(toy: Project) -> None:
    with serve(FakeLlm([picks()])) as fake:
        (result,) = run(toy, reranking(toy, fake, max_calls=5), limits={"jobs": 2})
    assert len(fake.requests) == 5
    assert result.statuses == {"ok": 5, "not_attempted": 7}
    reasons = Counter(reason for status, reason in statuses(toy).values() if reason)
    assert reasons == {"budget: 5 of 5 calls made": 7}
    assert not list((toy.home / "spent").glob("*"))  # a run that is done needs no ledger


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_run_that_goes_on_does_not_forget_what_it_called(toy: Project, is_lost: bool) -> None:
    with serve(FakeLlm([picks()])) as fake:
        arm = reranking(toy, fake, max_calls=5)
        (first,) = run(toy, arm, limits={"max_cost_usd": 0.03})
        assert (first.state, len(fake.requests)) == ("stopped", 3)
        if is_lost:  # the lake knows it too
            (toy.home / "spent" / f"{first.run_id}.json").unlink()
        (again,) = run(toy, arm, limits={"jobs": 2})
    assert (again.run_id, len(fake.requests)) == (first.run_id, 5)
    assert again.statuses == {"ok": 2, "not_attempted": 7}


def test_a_task_whose_worker_is_killed_keeps_what_its_prompt_costs(toy: Project) -> None:
    release = threading.Event()
    try:
        with serve(FakeLlm([picks()], wait=release.wait)) as fake:
            run(toy, reranking(toy, fake), limit=1, limits={"timeout_s": 4})
            release.set()
    finally:
        release.set()
    (attempt,) = rows(toy, "attempts")
    assert (attempt["status"], attempt["n_tool_calls"]) == ("timeout", 1)
    size = sum(len(message["content"].encode()) for message in fake.requests[0]["messages"])
    # Three bytes a token, each message rounded up, at $10 a million.
    assert attempt["cost_usd"] == pytest.approx(size / 3 * 10 / 1e6, abs=2e-5)


@pytest.fixture
def place(tmp_path: Path) -> LedgerPlace:
    return LedgerPlace(tmp_path / "spent" / "run.json")


def test_many_workers_at_once_never_pass_a_call_limit(place: LedgerPlace) -> None:
    def work(number: int) -> int:
        ledger, n = Ledger(place), 0
        ledger.begin(f"task-{number}")
        for _ in range(10):
            try:
                ledger.reserve(0.5, max_calls=17, max_cost_usd=None)
            except BudgetSpentError:
                continue
            n += 1
        return n

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(work, range(4)))
    assert sum(made) == 17
    used = [place.used_by(f"task-{number}") for number in range(4)]
    assert [one.n_calls for one in used if one] == made


def test_money_is_reserved_before_a_call_and_settled_after_it(place: LedgerPlace) -> None:
    ledger = Ledger(place)
    ledger.begin("t")
    ledger.reserve(0.4, max_calls=None, max_cost_usd=1.0)
    # The first is still on its way: 0.4 + 0.7 would pass the limit.
    with pytest.raises(BudgetSpentError, match=r"\$0.4000 of \$1.0000 spent"):
        Ledger(place).reserve(0.7, max_calls=None, max_cost_usd=1.0)
    ledger.settle(0.4, 0.25)
    Ledger(place).reserve(0.7, max_calls=None, max_cost_usd=1.0)
    assert place.used_by("t") == Used(1, pytest.approx(0.25))
    ledger.begin("next")
    assert place.used_by("t") is None


def test_a_ledger_counts_at_least_what_the_lake_has(tmp_path: Path) -> None:
    place = LedgerPlace(tmp_path / "run.json", n_calls=3, cost_usd=0.5)
    with pytest.raises(BudgetSpentError, match="3 of 3"):
        Ledger(place).reserve(None, max_calls=3, max_cost_usd=None)
    with pytest.raises(BudgetSpentError, match=r"\$0.5000 of \$0.6000"):
        Ledger(place).reserve(0.2, max_calls=None, max_cost_usd=0.6)


def test_without_a_run_a_ledger_counts_for_its_process(tmp_path: Path) -> None:
    ledger = Ledger()
    ledger.reserve(None, max_calls=1, max_cost_usd=None)
    with pytest.raises(BudgetSpentError):
        ledger.reserve(None, max_calls=1, max_cost_usd=None)
    Ledger().reserve(None, max_calls=1, max_cost_usd=None)
