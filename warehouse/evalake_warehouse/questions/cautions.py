"""What to say of a run that has scores, and not from all that its system claims to have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def silent_branches(completeness: Mapping[str, Any]) -> list[str]:
    """Branches that the system declared and no hit came from.

    Args:
        completeness: a row of `fct_run_completeness`; an earlier build's tells of none.
    """
    told = completeness.get("silent_branches")
    return told.split(", ") if told else []


def silence(completeness: Mapping[str, Any]) -> str | None:
    """The same as a clause for a person; None where every branch was heard."""
    silent = silent_branches(completeness)
    if not silent:
        return None
    named = f"branch {silent[0]}" if len(silent) == 1 else f"branches {' and '.join(silent)}"
    rest = "; the scores are those of the other branches" if completeness["n_ok"] else ""
    return f"no hit came from {named}{rest}"
