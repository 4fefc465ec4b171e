"""Closed lists of words that Python, lake schemas and models decide by; each stands here alone.

SQL takes a list by `{{ words('answered') }}`. `python -m evalake_warehouse.vocabulary_macros`
writes that macro from this module; a test fails while the two differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

# Granularity of a gold item.
Level = Literal["file", "symbol", "lines", "doc"]
LEVELS: tuple[Level, ...] = get_args(Level)

# Ways to recognise a gold item.
Relation = Literal["fingerprint", "symbol", "doc_id", "text", "file", "lines"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)

# What a gold item is to its task. Only relevant roles count in R; the others are judged.
GoldRole = Literal["primary", "touched", "core", "admissible"]
GOLD_ROLES: tuple[GoldRole, ...] = get_args(GoldRole)
RELEVANT_ROLES: tuple[GoldRole, ...] = ("primary", "core")

# What became of a task.
AttemptStatus = Literal["ok", "empty", "error", "timeout", "not_attempted"]
ATTEMPT_STATUSES: tuple[AttemptStatus, ...] = get_args(AttemptStatus)
ANSWERED: tuple[AttemptStatus, ...] = ("ok", "empty")
FAILED: tuple[AttemptStatus, ...] = ("error", "timeout")
UNANSWERED: tuple[AttemptStatus, ...] = (*FAILED, "not_attempted")

# What a system's answers are: a list of hits, or one text.
Output = Literal["ranked", "composite", "blob"]
OUTPUTS: tuple[Output, ...] = get_args(Output)
ONE_TEXT: tuple[Output, ...] = ("composite", "blob")

# Parts of a dataset. Each use of those with tasks of the test tail is a look.
Split = Literal["dev", "test", "small_dev", "small_test", "all"]
SPLITS: tuple[Split, ...] = get_args(Split)
TEST_SPLITS: tuple[Split, ...] = ("test", "small_test", "all")

# What a run is in its family. One that declares nothing is a candidate.
RunRole = Literal["baseline", "candidate", "control"]
RUN_ROLES: tuple[RunRole, ...] = get_args(RunRole)
DEFAULT_ROLE: RunRole = "candidate"

# Systems that say what the scale is: perfect, nothing, chance. They are no candidates.
CONTROL_SYSTEMS = ("gold", "empty", "random")
CHANCE_SYSTEMS = ("random",)
FINDING_NOTHING = ("empty", "random")  # by design, so that a score of 0 is not suspect
FOLLOWING_GOLD = ("gold",)  # their answers are made from the gold of one edition

# Why a run allows no verdict, and what else to know before its figures are believed.
SuspectReason = Literal[
    "nothing_attempted", "all_failed", "no_comparable_output", "all_empty", "all_zero"
]
SUSPECT_REASONS: tuple[SuspectReason, ...] = get_args(SuspectReason)
RUN_CAUTIONS = (
    *SUSPECT_REASONS,
    "unfinished",
    "not_attempted",
    "failed",
    "evidence_lost",
    "unresolved_paths",
    "silent_branches",
    "truncated",
    "beyond_depth",
)

Verdict = Literal["better", "worse", "no_difference", "no_effect", "suspect", "insufficient"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

BaselineKind = Literal["run", "frozen"]
BASELINE_KINDS: tuple[BaselineKind, ...] = get_args(BaselineKind)

# Metrics tried in this order where neither a run's family nor its dataset names a primary one.
USUAL_METRICS = ("recall@5", "ndcg@10", "success@5", "mrr", "coverage")


def sql_list(words: Sequence[str]) -> str:
    """The words as `('ok', 'empty')`, to stand after `in`."""
    return f"({', '.join(repr(word) for word in words)})"
