"""Runs that share a panel, with all that charts ask of them: names, colours, metrics."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from evalake_reports.charts.labels import legend, shorten, unique_labels
from evalake_reports.charts.marts import Marts, Run, ids
from evalake_reports.charts.palette import ARM_COLOURS, ArmStyle, Colour, arm_styles
from evalake_warehouse.errors import UsageError

if TYPE_CHECKING:
    from evalake_warehouse.questions.baseline import Baseline

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

    def chance(self, metric: str) -> float | None:
        """What guessing scores on a metric; None where no one knows."""
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
            near = difflib.get_close_matches(metric, names, cutoff=0.6)
            instead = (
                f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"
            )
            raise UsageError(f"no metric {metric!r} here; {instead}", where="--metric")
        return metric
