"""Which run a person means: by id, unique prefix, label or `latest`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from evalake_warehouse.errors import UsageError
from evalake_warehouse.questions.pending import build_command

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
        _refuse_unjudged(connection, text, dataset, split)
        if dataset is not None:
            check_dataset(dataset, known_datasets(connection))
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
    _refuse_unjudged(connection, text, dataset, split)
    raise UsageError(f"no run {text!r}; {_near(text, runs)}", hint="evalake runs list")


def list_runs(connection: DuckDBPyConnection) -> list[Run]:
    """Every run of the warehouse, the latest first."""
    rows = connection.execute(
        "select run_id, arm_label, dataset, edition, split, primary_metric, status, started_at "
        "from dim_runs order by run_id desc"
    ).fetchall()
    return [Run(*row) for row in rows]


def known_datasets(connection: DuckDBPyConnection) -> list[str]:
    """Names of all datasets that were ingested, or that a run was made on."""
    found = connection.execute(
        "select dataset from lake.main.datasets union select dataset from dim_runs order by 1"
    )
    return [name for (name,) in found.fetchall()]


def check_dataset(name: str, known: Iterable[str]) -> None:
    """Refuse a dataset that is not among the known ones.

    Raises:
        UsageError: with the nearest names.
    """
    names = sorted(known)
    if name not in names:
        raise UsageError(
            f"no dataset {name!r} here{_instead(name, names)}", hint="evalake datasets list"
        )


def _refuse_unjudged(
    connection: DuckDBPyConnection, text: str, dataset: str | None, split: str | None
) -> None:
    """Tell a run that the lake has and the warehouse has not from one that does not exist."""
    waiting = connection.execute(
        "select distinct run_id, arm_label from lake.main.runs "
        "where run_id not in (select run_id from dim_runs) "
        "and ($dataset is null or dataset = $dataset) and ($split is null or split = $split)",
        {"dataset": dataset, "split": split},
    ).fetchall()
    for run_id, label in waiting:
        by_id = len(text) >= _SHORTEST_PREFIX and run_id.startswith(text.lower())
        if by_id or text in (LATEST, label):
            what = f"run {text!r} is in the lake and not judged yet"
            raise UsageError(what, hint=build_command(connection))


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
    if near := _nearest(text, labels):
        return f"did you mean {near}?"
    return f"the latest are {', '.join(map(repr, labels[:5]))}"


def _instead(name: str, known: list[str]) -> str:
    if near := _nearest(name, known):
        return f"; did you mean {near}?"
    return f"; there are: {', '.join(known)}" if known else "; none was ingested yet"


def _nearest(text: str, names: list[str]) -> str:
    """Up to three names that resemble the text or have it in them."""
    folded = {name.lower(): name for name in names}
    near = difflib.get_close_matches(text.lower(), folded, n=3, cutoff=0.5)
    near += [key for key in folded if text.lower() in key and key not in near]
    return " or ".join(repr(folded[key]) for key in near[:3])
