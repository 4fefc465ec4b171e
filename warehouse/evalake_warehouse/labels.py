"""What a run may be called: one rule for sweep files, `--label` and importers."""

from __future__ import annotations

from evalake_warehouse.errors import UsageError
from evalake_warehouse.shown import shown

LATEST = "latest"  # as a run: the one that was recorded last
MAX_LENGTH = 100
SHORTEST_PREFIX = 4  # of a run id, for it to address the run

_PATHS_BEGIN = ("./", "../", "/", "~", ".\\")
_RUN_ID = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
_RUN_IDS_BEGIN = "01"  # version 7 ids of the years 2004 to 2039


def check_label(label: str, *, where: str = "--label") -> str:
    """The label itself, if a run can be addressed by it.

    Args:
        where: the flag or place that the label comes from, for the message.

    Raises:
        UsageError: with what is wrong with it.
    """
    if problem := label_problem(label):
        raise UsageError(f"{problem}; choose another", where=where)
    return label


def label_problem(label: str) -> str | None:
    """Why a run cannot be called so; None where it can."""
    reasons = (
        (not label.strip(), "a label cannot be empty"),
        (label != label.strip(), f"label {_cut(label)} begins or ends with a space"),
        (
            shown(label) != label,
            f"label {_cut(label)} has characters that cannot be seen or typed",
        ),
        (
            len(label) > MAX_LENGTH,
            f"label {_cut(label)} has {len(label)} characters; at most {MAX_LENGTH} are allowed",
        ),
        (label.lower() == LATEST, f"label {label!r} means the run that was recorded last"),
        (label.startswith("-"), f"label {label!r} would be read as a flag"),
        (
            label.lower().endswith(".json") or label.startswith(_PATHS_BEGIN),
            f"label {label!r} would be read as the path of a frozen baseline",
        ),
        (looks_like_run_id(label), f"label {label!r} would be read as the beginning of a run id"),
    )
    return next((reason for is_so, reason in reasons if is_so), None)


def looks_like_run_id(text: str) -> bool:
    """Whether a text could be a run id of these decades, or the beginning of one."""
    shape = "".join("x" if c in "0123456789abcdef" else c for c in text.lower())
    return (
        len(text) >= SHORTEST_PREFIX
        and text.startswith(_RUN_IDS_BEGIN)
        and _RUN_ID.startswith(shape)
    )


def _cut(label: str) -> str:
    return repr(label if len(label) <= 40 else f"{label[:40]}…")
