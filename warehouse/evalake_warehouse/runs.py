"""Which run a person means: by id, unique prefix, label or `latest`."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from evalake_warehouse.errors import UsageError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LATEST = "latest"
_SHORTEST_PREFIX = 4


@dataclass(frozen=True, slots=True)
class Run:
    """What is needed to address a run and to know what it may be compared with."""

    run_id: str
    arm_label: str
    dataset: str
    edition: str
    split: str
    primary_metric: str | None
    status: str
    started_at: datetime

    def __str__(self) -> str:
        return f"{self.arm_label} on {self.dataset}/{self.split} ({self.run_id})"


def resolve_run(
    connection: DuckDBPyConnection,
    text: str,
    *,
    dataset: str | None = None,
    split: str | None = None,
    like: Run | None = None,
) -> Run:
    """The run that `text` names: an id, a label (its last run), `latest`, or an id's unique prefix.

    Args:
        dataset: consider runs on this dataset only.
        split: consider runs on this split only.
        like: of the runs that a label or `latest` names, take one that can be compared with this
            one, if there is any.

    Raises:
        UsageError: no run, or several, with what comes near.
    """
    runs = [
        run
        for run in list_runs(connection)
        if dataset in (None, run.dataset) and split in (None, run.split)
    ]
    if not runs:
        where = "/".join(part for part in (dataset, split) if part)
        raise UsageError(f"no runs{' on ' + where if where else ''} yet", hint="evalake runs list")
    for run in runs:
        if text == run.run_id:
            return run
    named = [run for run in runs if text in (LATEST, run.arm_label)]
    if named:
        return min(named, key=lambda run: _distance(run, like))  # the first of equals: the latest
    matching = [run for run in runs if run.run_id.startswith(text.lower())]
    if len(matching) == 1 and len(text) >= _SHORTEST_PREFIX:
        return matching[0]
    if matching:
        shown = "; ".join(map(str, matching[:5]))
        raise UsageError(
            f"{len(matching)} run ids start with {text!r}: {shown}", hint="evalake runs list"
        )
    raise UsageError(f"no run {text!r}; {_near(text, runs)}", hint="evalake runs list")


def list_runs(connection: DuckDBPyConnection) -> list[Run]:
    """Every run of the warehouse, the latest first."""
    rows = connection.execute(
        "select run_id, arm_label, dataset, edition, split, primary_metric, status, started_at "
        "from dim_runs order by started_at desc, run_id desc"
    ).fetchall()
    return [Run(*row) for row in rows]


def _distance(run: Run, other: Run | None) -> int:
    """How many of dataset, edition and split two runs do not share, the weightiest first."""
    if other is None:
        return 0
    if run.dataset != other.dataset:
        return 3
    if run.edition != other.edition:
        return 2
    return int(run.split != other.split)


def _near(text: str, runs: list[Run]) -> str:
    labels = list(dict.fromkeys(run.arm_label for run in runs))
    folded = {label.lower(): label for label in labels}
    near = difflib.get_close_matches(text.lower(), folded, n=3, cutoff=0.5)
    near += [key for key in folded if text.lower() in key and key not in near]
    if near:
        return f"did you mean {' or '.join(repr(folded[key]) for key in near[:3])}?"
    return f"the latest are {', '.join(repr(label) for label in labels[:5])}"
