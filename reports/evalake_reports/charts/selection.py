"""Runs that share a panel, with all that charts ask of them: names, colours, metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from evalake_reports.charts.labels import legend, shorten, unique_labels
from evalake_reports.charts.marts import Marts, ids
from evalake_reports.charts.palette import ARM_COLOURS, ArmStyle, Colour, arm_styles
from evalake_warehouse.errors import UsageError
from evalake_warehouse.nearest import did_you_mean
from evalake_warehouse.questions.cautions import (
    Caution,
    depth_cautions,
    run_cautions,
    same_list_cautions,
)
from evalake_warehouse.questions.definitions import SHOWN_METRICS
from evalake_warehouse.questions.runs import Run, primary_metric

if TYPE_CHECKING:
    from evalake_warehouse.questions.baseline import Baseline


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
    frozen: Baseline | None = None  # the baseline's scores, where it came from a file
    frozen_run_id: str | None = None  # the run that a frozen baseline is the scores of

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
        """The metric that the runs are judged by."""
        return primary_metric(self.marts.connection, self.runs)

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

    @cached_property
    def cautions(self) -> Mapping[str, list[Caution]]:
        """What to know of each run, of those left out too, on the metrics that tables show."""
        names = {item.run.run_id: item.run.arm_label for item in self.left_out} | dict(self.labels)
        connection = self.marts.connection
        of_runs = run_cautions(connection, list(names), [self.primary_metric, *SHOWN_METRICS])
        shared = same_list_cautions(connection, names)
        return {run_id: [*of_runs[run_id], *shared[run_id]] for run_id in names}

    @cached_property
    def shared_cautions(self) -> list[Caution]:
        """What to know of the runs beside each other, and beside their baseline."""
        runs = {self.labels[run.run_id]: run for run in self.runs}
        if self.baseline is not None:
            runs.setdefault(self.name(self.baseline), self.baseline)
        return depth_cautions(runs)

    @cached_property
    def latest_edition(self) -> str | None:
        """The dataset's edition that arrived last; None where nothing is known of the dataset."""
        found = self.marts.rows(
            "select edition from dim_editions where dataset = ? and is_latest",
            self.runs[0].dataset,
        )
        return found[0]["edition"] if found else None

    @property
    def heading(self) -> str:
        """Dataset, split, edition and number of tasks: what tells this table from any other."""
        first, latest = self.runs[0], self.latest_edition
        which = "latest" if first.edition == latest else f"the latest is {str(latest)[:8]}"
        edition = f"edition {first.edition[:8]}" + (f" ({which})" if latest else "")
        return f"{first.dataset}, {first.split}, {edition}, n = {self.n_tasks} tasks"

    def chance(self, metric: str) -> float | None:
        """The score expected of a random ranking on a metric; None where it is not known."""
        [row] = self.marts.rows(
            "select median(chance) as chance from fct_run_metrics "
            "where list_contains(?, run_id) and metric = ?",
            ids(self.runs),
            metric,
        )
        return None if row["chance"] is None else float(row["chance"])

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
            raise UsageError(
                f"no metric {metric!r} here{did_you_mean(metric, names)}", where="--metric"
            )
        return metric
