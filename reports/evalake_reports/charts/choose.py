"""Which runs a chart shows. A panel has one dataset, one split and one set of tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from shlex import quote

from evalake_reports.charts.frozen_baselines import with_file
from evalake_reports.charts.labels import shorten
from evalake_reports.charts.marts import Marts
from evalake_reports.charts.palette import ARM_COLOURS, Colour
from evalake_reports.charts.selection import LeftOut, Selection
from evalake_warehouse.errors import UsageError
from evalake_warehouse.questions.resolve import Tell, Wanted, resolve_run
from evalake_warehouse.questions.runs import Run, check_dataset, known_datasets


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on runs, where none is named by `--run`; None means any."""

    sweep_id: str | None = None
    family: str | None = None
    dataset: str | None = None
    split: str | None = None
    edition: str | None = None  # or the beginning of one

    def chosen(self) -> dict[str, str]:
        """The conditions set, by field of `Run`."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in named.items() if value is not None}

    def keep(self, runs: Iterable[Run]) -> list[Run]:
        """Runs that meet every condition."""
        wanted = self.chosen()
        edition = wanted.pop("edition", "")
        return [
            run
            for run in runs
            if run.edition.startswith(edition)
            and all(getattr(run, k) == v for k, v in wanted.items())
        ]


def select(
    marts: Marts,
    runs: Sequence[str] = (),
    *,
    sweep: str | None = None,
    family: str | None = None,
    dataset: str | None = None,
    split: str | None = None,
    edition: str | None = None,
    baseline: str | None = None,
    colours: tuple[Colour, ...] = ARM_COLOURS,
    tell: Tell = lambda _: None,
) -> Selection:
    """The runs named, in one panel.

    Args:
        runs: ids, unique prefixes, labels or `latest`. None: those of the latest sweep.
        edition: only runs judged by this edition, or by one that begins so.
        tell: called with a sentence where a name could have meant another run too.

    Raises:
        UsageError: a name that fits no run, nothing selected, or runs of different datasets,
            splits or task sets, each of them named.
    """
    found = _found(marts, runs, Filter(sweep, family, dataset, split, edition), tell)
    _refuse_mixture(found)
    return _selection(marts, found, baseline, colours, ())


def panels(
    marts: Marts,
    runs: Sequence[str] = (),
    *,
    sweep: str | None = None,
    family: str | None = None,
    dataset: str | None = None,
    split: str | None = None,
    edition: str | None = None,
    baseline: str | None = None,
    colours: tuple[Colour, ...] = ARM_COLOURS,
    tell: Tell = lambda _: None,
) -> list[Selection]:
    """Like `select`, split where runs may not share a panel; runs named one by one still must.

    A run that has only part of the tasks (killed, or limited) is left out of its panel and
    named there.
    """
    found = _found(marts, runs, Filter(sweep, family, dataset, split, edition), tell)
    if runs:
        _refuse_mixture(found)
    groups: dict[str, list[Run]] = {}
    for run in found:
        groups.setdefault(run.place, []).append(run)
    return [_largest_task_set(marts, group, baseline, colours) for group in groups.values()]


def _found(marts: Marts, names: Sequence[str], wanted: Filter, tell: Tell) -> list[Run]:
    known = wanted.keep(marts.members)
    if not known:
        if wanted.dataset is not None:
            check_dataset(wanted.dataset, known_datasets(marts.connection))
        said = ", ".join(f"{name} {value!r}" for name, value in wanted.chosen().items())
        raise UsageError(
            f"no run with {said}" if said else "no run in this warehouse yet",
            hint="evalake runs list",
        )
    if names:
        named = dict.fromkeys(_resolve(marts, known, name, wanted, tell) for name in names)
        return marts.with_tasks(named)
    if wanted.sweep_id is None and wanted.family is None:
        known = _latest_family(known, whole_dataset=wanted.dataset is not None)
    return _one_per_arm(marts.with_tasks(known))


def _resolve(marts: Marts, known: Sequence[Run], name: str, wanted: Filter, tell: Tell) -> Run:
    """The run among `known` that an id, a unique prefix, a label or `latest` means."""
    place = Wanted(wanted.dataset, wanted.split, wanted.edition)
    named = resolve_run(marts.connection, name, place, tell=tell)
    for run in known:
        if run.run_id == named.run_id:
            return run
    said = ", ".join(f"{key} {value!r}" for key, value in wanted.chosen().items())
    raise UsageError(f"run {shorten(name, 80)!r} is not one with {said}", hint="evalake runs list")


def _latest_family(runs: list[Run], *, whole_dataset: bool) -> list[Run]:
    """The runs that belong with the latest one: its family, else its dataset and split."""
    latest = runs[-1]
    if latest.family and not whole_dataset:
        return [run for run in runs if run.family == latest.family]
    return [run for run in runs if whole_dataset or run.place == latest.place]


def _one_per_arm(runs: list[Run]) -> list[Run]:
    """Of each arm and place, the newest run among those that tried the most tasks."""
    chosen: dict[tuple[str, str], Run] = {}
    for run in sorted(runs, key=lambda run: (run.n_seen, run.run_id)):
        chosen[run.arm_hash, run.place] = run
    return sorted(chosen.values(), key=lambda run: run.run_id)


def _refuse_mixture(runs: Sequence[Run]) -> None:
    places = sorted({run.place for run in runs})
    if len(places) > 1:
        named = "; ".join(
            f"{place}: {_names([run for run in runs if run.place == place])}" for place in places
        )
        raise UsageError(
            f"runs of different datasets or splits do not share a panel: {named}",
            hint=f"--dataset {quote(runs[0].dataset)} --split {runs[0].split}",
        )
    sets: dict[int, list[Run]] = {}
    for run in runs:
        sets.setdefault(run.task_set, []).append(run)
    if len(sets) > 1:
        named = "; ".join(f"{group[0].n_seen} tasks: {_names(group)}" for group in sets.values())
        raise UsageError(
            f"runs of {places[0]} with different tasks do not share a panel: {named}",
            hint="evalake runs list",
        )


def _names(runs: Sequence[Run]) -> str:
    return ", ".join(shorten(run.arm_label, 60) for run in runs)


def _largest_task_set(
    marts: Marts, group: list[Run], baseline: str | None, colours: tuple[Colour, ...]
) -> Selection:
    sizes: dict[int, list[Run]] = {}
    for run in group:
        sizes.setdefault(run.task_set, []).append(run)
    kept = max(sizes.values(), key=lambda runs: (runs[0].n_seen, len(runs)))
    total = kept[0].n_seen
    left_out = tuple(
        LeftOut(
            run,
            f"has {run.n_seen} of {max(total, run.n_tasks)} tasks"
            if run.n_seen != total
            else "has other tasks",
        )
        for run in group
        if run.task_set != kept[0].task_set
    )
    return _selection(marts, kept, baseline, colours, left_out)


def _selection(
    marts: Marts,
    runs: list[Run],
    baseline: str | None,
    colours: tuple[Colour, ...],
    left_out: tuple[LeftOut, ...],
) -> Selection:
    if baseline is None:
        chosen = next((run for run in reversed(runs) if run.role == "baseline"), None)
        return Selection(marts, tuple(runs), chosen, left_out, colours)
    from evalake_warehouse.questions.baseline import is_baseline_file

    first = runs[0]
    if is_baseline_file(baseline):
        against_file = with_file(
            Selection(marts, tuple(runs), None, left_out, colours), Path(baseline)
        )
        if against_file.baseline is not None:
            _refuse_other_place(against_file.baseline, first)
        return against_file
    by_label = [run for run in runs if run.arm_label == baseline]
    if by_label:
        return Selection(marts, tuple(runs), by_label[-1], left_out, colours)
    place = Wanted(first.dataset, first.split, first.edition)
    known = resolve_run(marts.connection, baseline, place)
    _refuse_other_place(known, first)
    return Selection(marts, tuple(runs), known, left_out, colours)


def _refuse_other_place(baseline: Run, run: Run) -> None:
    if baseline.place != run.place:
        raise UsageError(
            f"the baseline ran on {baseline.place}, these runs on {run.place}",
            where="--baseline",
            hint=f"evalake runs list --dataset {quote(run.dataset)}",
        )
