"""Verdicts in words."""

from __future__ import annotations

from typing import Any

import pytest

from evalake_warehouse.questions.gate import judge
from evalake_warehouse.questions.verdicts import verdict_sentence

TEST: dict[str, Any] = {
    "metric": "success@5", "n_pairs": 100, "candidate_mean": 0.61, "baseline_mean": 0.5,
    "only_candidate": 17, "only_baseline": 6, "mean_diff": 0.11, "diff_low": 0.02,
    "diff_high": 0.2, "test": "mcnemar_midp", "p_value": 0.0224, "p_holm": 0.0448, "n_tests": 2,
    "mde": 0.133, "verdict": "better", "n_candidate_failed": 0, "n_baseline_failed": 0,
    "n_baseline_scored": 100, "baseline_suspect": None, "candidate_suspect": None,
    "n_common_lists": 100, "n_same_lists": 0,
}  # fmt: skip


def sentence(**changes: Any) -> str:
    return verdict_sentence(TEST | changes, margin=0.02, min_pairs=10)


def test_a_verdict_names_scores_tasks_interval_p_and_what_it_is_adjusted_for() -> None:
    assert sentence() == (
        "success@5: 0.610 against 0.500 on 100 common tasks, 17 won and 6 lost; difference "
        "+0.110 [+0.020, +0.200], McNemar mid-p 0.045, adjusted for 2 candidates. "
        "The candidate is better."
    )


def test_an_insufficient_verdict_says_what_could_have_been_seen() -> None:
    found = sentence(verdict="insufficient", p_holm=0.3)
    assert "Insufficient: a difference is neither shown nor ruled out" in found
    assert "difference of 0.13 or more" in found


def test_a_verdict_in_words_uses_the_word_of_the_marts() -> None:
    assert sentence(verdict="worse").endswith("The candidate is worse.")
    assert sentence(verdict="no_difference").endswith(
        "Verdict no_difference: any is smaller than 0.02."
    )
    assert "Insufficient: no task differs" in sentence(verdict="insufficient", mde=None)


def test_a_suspect_run_is_measured_and_gets_no_verdict() -> None:
    assert sentence(candidate_suspect="all_zero", verdict="suspect", p_holm=None) == (
        "success@5: 0.610 against 0.500 on 100 common tasks, 17 won and 6 lost. "
        "No verdict: the candidate is suspect, every score is 0."
    )
    assert sentence(baseline_suspect="all_failed", candidate_suspect="all_empty", n_pairs=0) == (
        "success@5: no verdict: the baseline is suspect, every task that was attempted failed and "
        "the candidate is suspect, every answer was empty."
    )


def test_the_same_lists_are_no_effect_and_never_a_doubt() -> None:
    same = {"n_same_lists": 100, "mean_diff": 0.0, "diff_low": 0.0, "diff_high": 0.0, "mde": None}
    found = sentence(verdict="no_effect", p_holm=1.0, n_tests=1, **same)
    assert found == (
        "success@5: 0.610 against 0.500 on 100 common tasks, 17 won and 6 lost, the same list on "
        "100 of 100 tasks; difference +0.000 [+0.000, +0.000], McNemar mid-p 1.000. "
        "No effect: what differs between the two changed no list."
    )
    held = judge(TEST | same, max_drop=0.0, min_pairs=10)
    assert (held.outcome, held.reason.rpartition("; ")[2]) == (
        "holds",
        "the same list on 100 of 100 tasks",
    )


def test_how_many_lists_are_the_same_is_told_where_it_is_known() -> None:
    assert ", the same list on 60 of 100 tasks; difference" in sentence(n_same_lists=60)
    unknown = sentence(n_same_lists=None, n_common_lists=None)
    assert "the same list" not in unknown
    assert "the same list" not in sentence()


def test_no_common_task_and_too_few_say_so() -> None:
    assert "share no scored task" in sentence(n_pairs=0)
    assert "Insufficient: 9 tasks; a verdict needs at least 10." in sentence(n_pairs=9)


@pytest.mark.parametrize(
    ("changes", "outcome", "code"),
    [
        ({}, "holds", 0),
        ({"diff_high": -0.01}, "regression", 1),
        ({"diff_high": -0.01, "n_candidate_failed": 3}, "regression", 1),
        ({"n_candidate_failed": 1}, "inconclusive", 3),
        ({"n_candidate_failed": 1, "n_baseline_failed": 1}, "holds", 0),
        ({"n_pairs": 9, "diff_high": -0.5}, "inconclusive", 3),
        ({"n_pairs": 99}, "inconclusive", 3),  # the candidate lacks one of the baseline's tasks
        ({"diff_high": 0.0}, "holds", 0),
        ({"candidate_suspect": "all_zero", "diff_high": -0.5}, "inconclusive", 3),
        ({"baseline_suspect": "all_zero"}, "inconclusive", 3),
    ],
)
def test_one_rule_gives_word_and_exit_code(
    changes: dict[str, Any], outcome: str, code: int
) -> None:
    verdict = judge(TEST | changes, max_drop=0.0, min_pairs=10)
    assert (verdict.outcome, int(verdict.exit_code)) == (outcome, code)


def test_an_allowed_drop_is_allowed_only_as_far_as_the_interval_shows() -> None:
    assert judge(TEST | {"diff_high": -0.04}, max_drop=0.05, min_pairs=10).outcome == "holds"
    assert judge(TEST | {"diff_high": -0.06}, max_drop=0.05, min_pairs=10).outcome == "regression"
