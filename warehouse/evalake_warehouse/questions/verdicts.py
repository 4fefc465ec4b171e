"""A paired comparison in words: what was seen, how sure, and what so few tasks could have shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalake_warehouse.questions.cautions import suspect_text

_TESTS = {"mcnemar_midp": "McNemar mid-p", "sign_flip": "sign-flip p"}


def verdict_sentence(test: Mapping[str, Any], *, margin: float, min_pairs: int) -> str:
    """One sentence or two about a row of `fct_paired_tests`, fit to stand in a review.

    Args:
        test: a row of `fct_paired_tests`, or of what `compare_runs` gives.
        margin: differences inside it count as none, in metric points.
        min_pairs: fewer common tasks allow no verdict.
    """
    n_pairs = test["n_pairs"]
    if (suspect := suspects(test)) and n_pairs == 0:
        return f"{test['metric']}: no verdict: {suspect}."
    if n_pairs == 0:
        return f"{test['metric']}: the runs share no scored task, so nothing can be said."
    seen = (
        f"{test['metric']}: {test['candidate_mean']:.3f} against {test['baseline_mean']:.3f} on "
        f"{n_pairs} common tasks, {test['only_candidate']} won and {test['only_baseline']} lost"
    )
    if suspect:
        return f"{seen}. No verdict: {suspect}."
    if same := same_lists(test):
        seen += f", {same}"
    if n_pairs < min_pairs:
        return f"{seen}. Insufficient: {n_pairs} tasks; a verdict needs at least {min_pairs}."
    adjusted = test.get("p_holm")
    p = test["p_value"] if adjusted is None else adjusted
    holm = f", adjusted for {test['n_tests']} candidates" if test.get("n_tests", 1) > 1 else ""
    interval = (
        f"difference {test['mean_diff']:+.3f} [{test['diff_low']:+.3f}, {test['diff_high']:+.3f}]"
    )
    measured = f"{seen}; {interval}, {_TESTS[test['test']]} {_p_text(p)}{holm}"
    return f"{measured}. {_conclusion(test, margin)}"


def suspects(test: Mapping[str, Any]) -> str | None:
    """Which of the two runs allow no verdict, and why; None where both do."""
    told = [
        f"the {side} is suspect, {suspect_text(reason)}"
        for side in ("baseline", "candidate")
        if (reason := test[f"{side}_suspect"])
    ]
    return " and ".join(told) or None


def same_lists(test: Mapping[str, Any]) -> str | None:
    """On how many tasks both runs returned the same list; None where none, or it is not known."""
    if not test["n_same_lists"]:
        return None
    return f"the same list on {test['n_same_lists']} of {test['n_common_lists']} tasks"


def _conclusion(test: Mapping[str, Any], margin: float) -> str:
    match test["verdict"]:
        case "better":
            return "The candidate is better."
        case "worse":
            return "The candidate is worse."
        case "no_difference":
            return f"Verdict no_difference: any is smaller than {margin:g}."
        case "no_effect":
            return "No effect: what differs between the two changed no list."
    if test["mde"] is None:
        return "Insufficient: no task differs, and so few tasks cannot rule a difference out."
    return (
        "Insufficient: a difference is neither shown nor ruled out; with "
        f"{test['n_pairs']} such tasks only a true difference of {test['mde']:.2f} or more would "
        "be found four times in five."
    )


def _p_text(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else "below 0.001"
