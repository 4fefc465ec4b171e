"""Which runs a chart shows. A panel has one dataset, one split and one set of tasks."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

from evalake_warehouse.charts.labels import legend, shorten, unique_labels
from evalake_warehouse.charts.marts import BASELINE_ROLE, Marts, Run, ids
from evalake_warehouse.charts.palette import ARM_COLOURS, ArmStyle, Colour, arm_styles
from evalake_warehouse.errors import Problem, UsageError

# Tried in this order where neither the runs nor their dataset name a primary metric.
_USUAL_METRICS = ("recall@5", "ndcg@10", "success@5", "mrr", "coverage")


@dataclass(frozen=True)
class LeftOut:
    """A run that was meant and is not shown, with the reason."""

    run: Run
    reason: str


@dataclass(frozen=True)
class Selection:
    """Runs that may stand in one panel: the same dataset, edition, split and tasks."""

    marts: Marts
    runs: tuple[Run, ...]
    baseline: Run | None
    left_out: tuple[LeftOut, ...] = ()
    colours: tuple[Colour, ...] = ARM_COLOURS

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """Short, distinct name per run id."""
        return unique_labels(self.runs)

    @cached_property
    def styles(self) -> Mapping[str, ArmStyle]:
        """Colour and shape per run id, the same in every chart of this warehouse."""
        by_arm = arm_styles(self.marts.runs, self.colours)
        return {run.run_id: by_arm[run.arm_hash] for run in self.runs}

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Metrics that at least one of the runs has a score for."""
        found = self.marts.rows(
            "select distinct metric from fct_run_metrics "
            "where list_contains(?, run_id) and n_scored > 0",
            ids(self.runs),
        )
        return tuple(sorted(row["metric"] for row in found))

    @cached_property
    def primary_metric(self) -> str:
        """The runs' declared primary metric, else their dataset's, else a usual one."""
        declared = [run.primary_metric for run in self.runs if run.primary_metric]
        declared += [row["primary_metric"] for row in self._dataset_rows]
        usual = [name for name in (*_USUAL_METRICS, *self.metrics) if name in self.metrics]
        return (declared or usual or ["recall@5"])[0]

    @cached_property
    def n_scored(self) -> Mapping[str, int]:
        """Tasks with a score on the primary metric, per run id."""
        found = self.marts.rows(
            "select run_id, n_scored from fct_run_metrics "
            "where list_contains(?, run_id) and metric = ?",
            ids(self.runs),
            self.primary_metric,
        )
        return {row["run_id"]: row["n_scored"] for row in found}

    @cached_property
    def legends(self) -> Mapping[str, str]:
        """Full legend per run id."""
        return {run.run_id: legend(run, self.n_scored.get(run.run_id, 0)) for run in self.runs}

    @property
    def n_tasks(self) -> int:
        """Size of the task set."""
        return max(run.n_seen for run in self.runs)

    @property
    def _dataset_rows(self) -> list[dict[str, str]]:
        first = self.runs[0]
        return self.marts.rows(
            "select primary_metric from lake.datasets where dataset = ? and edition = ?",
            first.dataset,
            first.edition,
        )

    def name(self, run: Run) -> str:
        """Short name of a run, which need not be one of the selection."""
        return self.labels.get(run.run_id) or shorten(run.arm_label)

    def check_metric(self, metric: str) -> str:
        """The metric itself, if a run of this selection has it.

        Raises:
            UsageError: none has, with the nearest names.
        """
        known = self.marts.rows(
            "select distinct metric from fct_run_metrics where list_contains(?, run_id)",
            ids(self.runs),
        )
        names = sorted(row["metric"] for row in known)
        if metric not in names:
            near = ", ".join(difflib.get_close_matches(metric, names, cutoff=0.4) or names[:8])
            raise UsageError(f"no metric {metric!r} here; there are: {near or 'none'}")
        return metric


@dataclass(frozen=True, slots=True)
class Filter:
    """Which runs are meant where none is named one by one; None means any."""

    sweep_id: str | None = None
    family: str | None = None
    dataset: str | None = None
    split: str | None = None

    def chosen(self) -> dict[str, str]:
        """The conditions set, by field of `Run`."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in named.items() if value is not None}

    def keep(self, runs: Iterable[Run]) -> list[Run]:
        """Runs that meet every condition."""
        wanted = self.chosen()
        return [run for run in runs if all(getattr(run, k) == v for k, v in wanted.items())]


def select(
    marts: Marts,
    runs: Sequence[str] = (),
    *,
    sweep: str | None = None,
    family: str | None = None,
    dataset: str | None = None,
    split: str | None = None,
    baseline: str | None = None,
    colours: tuple[Colour, ...] = ARM_COLOURS,
) -> Selection:
    """The runs named, in one panel.

    Args:
        runs: ids, unique prefixes, labels or `latest`. None: those of the latest sweep.

    Raises:
        UsageError: a name that fits no run, nothing selected, or runs of different datasets,
            splits or task sets, each of them named.
    """
    found = _found(marts, runs, Filter(sweep, family, dataset, split))
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
    baseline: str | None = None,
    colours: tuple[Colour, ...] = ARM_COLOURS,
) -> list[Selection]:
    """Like `select`, split where runs may not share a panel; runs named one by one still must.

    A run that has only part of the tasks (killed, or limited) is left out of its panel and
    named there.
    """
    found = _found(marts, runs, Filter(sweep, family, dataset, split))
    if runs:
        _refuse_mixture(found)
    groups: dict[str, list[Run]] = {}
    for run in found:
        groups.setdefault(run.place, []).append(run)
    return [_largest_task_set(marts, group, baseline, colours) for group in groups.values()]


def resolve_run(runs: Iterable[Run], name: str) -> Run:
    """The run that an id, a unique prefix, a label or `latest` means.

    Raises:
        UsageError: none or several; near matches are named.
    """
    known = list(runs)
    if name == "latest" and known:
        return known[-1]
    by_label = [run for run in known if run.arm_label == name]
    if by_label:
        return by_label[-1]
    by_prefix = [run for run in known if run.run_id.startswith(name)] if name else []
    if len(by_prefix) == 1:
        return by_prefix[0]
    if by_prefix:
        several = ", ".join(run.run_id for run in by_prefix[:5])
        raise UsageError(
            f"{name!r} fits {len(by_prefix)} runs: {several}", hint="evalake runs list"
        )
    names = sorted({run.arm_label for run in known} | {run.run_id for run in known})
    near = ", ".join(shorten(n, 80) for n in difflib.get_close_matches(name, names, 3, 0.4))
    raise UsageError(
        f"no run {shorten(name, 80)!r}" + (f"; did you mean {near}?" if near else ""),
        hint="evalake runs list",
    )


def _found(marts: Marts, names: Sequence[str], wanted: Filter) -> list[Run]:
    known = wanted.keep(marts.runs)
    if not known:
        said = ", ".join(f"{name} {value!r}" for name, value in wanted.chosen().items())
        raise UsageError(
            f"no run with {said}" if said else "no run in this warehouse yet",
            hint="evalake runs list",
        )
    if names:
        chosen = {run.run_id: run for run in (resolve_run(known, name) for name in names)}
        return list(chosen.values())
    if wanted.sweep_id is None and wanted.family is None:
        known = _latest_family(known, whole_dataset=wanted.dataset is not None)
    return _latest_per_arm(known)


def _latest_family(runs: list[Run], *, whole_dataset: bool) -> list[Run]:
    """The runs that belong with the latest one: its family, else its dataset and split."""
    latest = runs[-1]
    if latest.family and not whole_dataset:
        return [run for run in runs if run.family == latest.family]
    return [run for run in runs if whole_dataset or run.place == latest.place]


def _latest_per_arm(runs: list[Run]) -> list[Run]:
    """The newest run of each arm and place, preferring one that has attempts."""
    latest: dict[tuple[str, str], Run] = {}
    for run in sorted(runs, key=lambda run: (run.n_seen >= run.n_tasks, run.started_at)):
        latest[run.arm_hash, run.place] = run
    return sorted(latest.values(), key=lambda run: (run.started_at, run.run_id))


def _refuse_mixture(runs: Sequence[Run]) -> None:
    places = sorted({run.place for run in runs})
    if len(places) > 1:
        problems = [
            Problem(
                place, ", ".join(shorten(run.arm_label, 60) for run in runs if run.place == place)
            )
            for place in places
        ]
        named = "; ".join(map(str, problems))
        raise UsageError(
            f"runs of different datasets or splits do not share a panel: {named}",
            hint=f"--dataset {runs[0].dataset} --split {runs[0].split}",
        )
    sets: dict[str, list[Run]] = {}
    for run in runs:
        sets.setdefault(run.task_set, []).append(run)
    if len(sets) > 1:
        named = "; ".join(
            f"{group[0].n_seen} tasks: {', '.join(shorten(run.arm_label, 60) for run in group)}"
            for group in sets.values()
        )
        raise UsageError(
            f"runs of {places[0]} with different tasks do not share a panel: {named}",
            hint="evalake runs list",
        )


def _largest_task_set(
    marts: Marts, group: list[Run], baseline: str | None, colours: tuple[Colour, ...]
) -> Selection:
    sizes: dict[str, list[Run]] = {}
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
    if baseline is not None:
        chosen: Run | None = resolve_run(runs, baseline)
    else:
        chosen = next((run for run in runs if run.role == BASELINE_ROLE), None)
    return Selection(marts, tuple(runs), chosen, left_out, colours)
