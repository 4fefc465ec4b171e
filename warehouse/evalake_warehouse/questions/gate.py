"""One rule that gives a gate's verdict and its exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from evalake_warehouse.errors import ExitCode
from evalake_warehouse.questions.verdicts import same_lists, suspects

Outcome = Literal["holds", "regression", "inconclusive"]

_EXIT_CODES: dict[Outcome, ExitCode] = {
    "holds": ExitCode.OK,
    "regression": ExitCode.REGRESSION,
    "inconclusive": ExitCode.INCOMPLETE,
}


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """What the gate says, and why in words."""

    outcome: Outcome
    reason: str

    @property
    def exit_code(self) -> ExitCode:
        """The command's exit code; it follows from the outcome and from nothing else."""
        return _EXIT_CODES[self.outcome]


def judge(
    test: Mapping[str, Any], *, max_drop: float, min_pairs: int, same_split: bool = True
) -> GateVerdict:
    """Judge one row of a paired comparison.

    In this order: a suspect run allows no verdict; too few common tasks say nothing; an interval
    that lies below `-max_drop` is a regression; a candidate that failed where the baseline did not
    may have dodged hard tasks, so its scores prove nothing; else it holds.

    Args:
        test: a row as in `fct_paired_tests`.
        max_drop: largest drop allowed, in metric points.
        same_split: both runs were asked the same tasks, so that one that lacks some is partial.
    """
    n_pairs, metric = test["n_pairs"], test["metric"]
    if suspect := suspects(test):
        return GateVerdict("inconclusive", f"no verdict on {metric}: {suspect}")
    if n_pairs < min_pairs:
        return GateVerdict(
            "inconclusive", f"{n_pairs} common scored tasks; at least {min_pairs} are needed"
        )
    interval = f"{test['mean_diff']:+.3f} [{test['diff_low']:+.3f}, {test['diff_high']:+.3f}]"
    measured = f"{metric} {interval} on {n_pairs} tasks"
    if test["diff_high"] < -max_drop:
        return GateVerdict(
            "regression", f"{measured}: all of it beyond the drop of {max_drop:g} allowed"
        )
    failed, before = test["n_candidate_failed"], test["n_baseline_failed"]
    if failed > before:
        return GateVerdict(
            "inconclusive",
            f"the candidate failed on {failed} tasks, the baseline on {before}; {measured}",
        )
    if same_split and n_pairs < test["n_baseline_scored"]:
        return GateVerdict(
            "inconclusive",
            f"the candidate lacks {test['n_baseline_scored'] - n_pairs} of the baseline's "
            f"{test['n_baseline_scored']} scored tasks; {measured}",
        )
    same = f"; {told}" if (told := same_lists(test)) else ""
    return GateVerdict("holds", f"{measured}: no drop beyond {max_drop:g} is shown{same}")
