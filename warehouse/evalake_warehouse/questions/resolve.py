"""Which run a person means: by id, unique prefix, label or `latest`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalake_warehouse.errors import UsageError
from evalake_warehouse.labels import LATEST, SHORTEST_PREFIX
from evalake_warehouse.nearest import nearest
from evalake_warehouse.questions.open_warehouse import rows
from evalake_warehouse.questions.pending import build_command
from evalake_warehouse.questions.runs import Run, check_dataset, known_datasets, list_runs

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Tell = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where a run is looked for; None means anywhere."""

    dataset: str | None = None
    split: str | None = None
    edition: str | None = None  # or the beginning of one

    def __str__(self) -> str:
        edition = f"edition {self.edition}" if self.edition else None
        return "/".join(part for part in (self.dataset, self.split, edition) if part)

    def fits(self, run: Run) -> bool:
        """Whether the run is there."""
        return (
            self.dataset in (None, run.dataset)
            and self.split in (None, run.split)
            and (self.edition is None or run.edition.startswith(self.edition))
        )


def resolve_run(
    connection: DuckDBPyConnection,
    text: str,
    wanted: Wanted | None = None,
    *,
    tell: Tell = lambda _: None,
    judged: bool = False,
) -> Run:
    """The run that `text` names: an id, a label (its last run), `latest`, or an id's unique prefix.

    Args:
        wanted: where to look.
        tell: called with a sentence where the name could have meant another run too.
        judged: refuse a name whose last run the warehouse has not judged yet, instead of taking
            an older one.

    Raises:
        UsageError: no run, or a label or prefix of several, with what comes near.
    """
    wanted = wanted or Wanted()
    runs = [run for run in list_runs(connection) if wanted.fits(run)]
    if not runs:
        _refuse_unjudged(connection, text, wanted, after="")
        if wanted.dataset is not None:
            check_dataset(wanted.dataset, known_datasets(connection))
        where = f" on {wanted}" if str(wanted) else ""
        raise UsageError(f"no runs{where} yet", hint="evalake runs list")
    found = _by_id(runs, text) or _latest(runs, text, tell) or _labelled(runs, text, tell)
    if found is not None:
        if judged and text != found.run_id:
            _refuse_unjudged(connection, text, wanted, after=found.run_id)
        return found
    found = _by_prefix(runs, text)
    if found is None:
        _refuse_unjudged(connection, text, wanted, after="")
        raise UsageError(f"no run {text!r}; {_near(text, runs)}", hint="evalake runs list")
    return found


def refuse_itself(baseline: str, candidate: str, run: Run, other: Run) -> None:
    """Refuse two names of one run: its figures always agree with themselves.

    Args:
        baseline: the name that `run` was found by, or the file that its scores are frozen in.
        candidate: the name that `other` was found by.

    Raises:
        UsageError: with the run that both mean.
    """
    if run.run_id != other.run_id:
        return
    what = f"`{baseline}` and `{candidate}` both mean run {other.run_id}"
    newer = "; nothing newer was recorded" if LATEST in (baseline, candidate) else ""
    raise UsageError(
        f"{what} ({other.arm_label} on {other.dataset}/{other.split}){newer}; "
        "name two runs, or run the candidate first",
        hint=f"evalake runs list --dataset {other.dataset}",
    )


def _by_id(runs: Sequence[Run], text: str) -> Run | None:
    return next((run for run in runs if run.run_id == text), None)


def _latest(runs: Sequence[Run], text: str, tell: Tell) -> Run | None:
    if text != LATEST:
        return None
    found = runs[0]
    if len(runs) > 1:
        same_sweep = sum(run.sweep_id == found.sweep_id for run in runs) if found.sweep_id else 0
        sweep = f", {same_sweep} of them of sweep {found.sweep_id}" if same_sweep > 1 else ""
        datasets = len({run.dataset for run in runs})
        places = f", on {datasets} datasets" if datasets > 1 else ""
        tell(f"`{LATEST}` is {found}, the last recorded of {len(runs)} runs{sweep}{places}")
    return found


def _labelled(runs: Sequence[Run], text: str, tell: Tell) -> Run | None:
    """The last run with the label.

    Raises:
        UsageError: it has runs at places that cannot be compared.
    """
    named = [run for run in runs if run.arm_label == text]
    if not named:
        return None
    found = named[0]
    places = list(dict.fromkeys((run.dataset, run.split, run.edition) for run in named))
    if len(places) > 1:
        flags = _flags(places)
        shown = "; ".join(" ".join(flags[place]) for place in places[:8])
        raise UsageError(
            f"label {text!r} names runs in {len(places)} places; say which: {shown}"
            + ("; ..." if len(places) > 8 else ""),
            hint=" ".join(flags[places[0]]),
        )
    if len(named) > 1:
        tell(f"`{text}` is {found}, the last of {len(named)} runs with this label")
    return found


def _flags(places: Sequence[tuple[str, str, str]]) -> dict[tuple[str, str, str], list[str]]:
    """For every dataset, split and edition the flags that tell it from the others."""
    names = ("--dataset", "--split", "--edition")
    differ = [len({place[part] for place in places}) > 1 for part in range(len(names))]
    return {
        place: [
            f"{name} {value[:8] if name == '--edition' else value}"
            for name, value, is_needed in zip(names, place, differ, strict=True)
            if is_needed
        ]
        for place in places
    }


def _by_prefix(runs: Sequence[Run], text: str) -> Run | None:
    matching = [run for run in runs if run.run_id.startswith(text.lower())]
    if len(matching) == 1 and len(text) >= SHORTEST_PREFIX:
        return matching[0]
    if matching:
        shown = "; ".join(map(str, matching[:5]))
        raise UsageError(
            f"{len(matching)} run ids start with {text!r}: {shown}", hint="evalake runs list"
        )
    return None


def _refuse_unjudged(
    connection: DuckDBPyConnection, text: str, wanted: Wanted, *, after: str
) -> None:
    """Tell a run that the lake has and the warehouse has not from one that does not exist.

    Args:
        after: only runs that were recorded after this one.
    """
    waiting = rows(
        connection,
        "select distinct run_id, arm_label from lake.main.runs "
        "where run_id not in (select run_id from dim_runs) and run_id > $after "
        "and ($dataset is null or dataset = $dataset) and ($split is null or split = $split) "
        "and ($edition is null or starts_with(edition, $edition))",
        {
            "after": after,
            "dataset": wanted.dataset,
            "split": wanted.split,
            "edition": wanted.edition,
        },
    )
    for row in waiting:
        by_id = len(text) >= SHORTEST_PREFIX and row["run_id"].startswith(text.lower())
        if by_id or text in (LATEST, row["arm_label"]):
            what = f"run {text!r} is in the lake and not judged yet"
            raise UsageError(what, hint=build_command(connection))


def _near(text: str, runs: Sequence[Run]) -> str:
    labels = list(dict.fromkeys(run.arm_label for run in runs))
    if near := nearest(text, labels):
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"the latest are {', '.join(map(repr, labels[:5]))}"
