"""The metrics that there are: the seed table that models, docs and sweep files go by."""

from __future__ import annotations

import csv
import re

from evalake_warehouse.project import Project

# What tables show beside the primary metric.
SHOWN_METRICS = ("success@1", "success@5", "success@10", "mrr", "ndcg@10")
# Several hits of a list are often of one file: so many for each give enough distinct files.
_HITS_PER_FILE = 5


def metric_definitions(project: Project) -> list[dict[str, str]]:
    """Rows of `metric_definitions`, as text: metric, measure, cutoff, formula, ..."""
    path = project.dbt_project / "seeds" / "metric_definitions.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def is_metric(project: Project, name: str) -> bool:
    """Whether a metric exists: a defined one, or a measure with a free cutoff.

    The rule of models/intermediate/int_run_definitions.sql, for a name without a level.
    """
    definitions = metric_definitions(project)
    if any(row["metric"] == name for row in definitions):
        return True
    cut = re.fullmatch(r"([a-z]+)@[1-9][0-9]{0,8}", name)
    free = {row["metric"].partition("@")[0] for row in definitions if row["is_deep"] == "true"}
    return cut is not None and cut[1] in free


def cutoff_of(metric: str) -> int | None:
    """The cutoff in a metric's name; None for one that reads the whole list."""
    head = re.match(r"[^@:]+@([0-9]+)", metric)
    return int(head[1]) if head else None


def enough_depth(metric: str) -> int:
    """Hits to ask for, so that a list rarely runs out of files before the metric's cutoff."""
    return _HITS_PER_FILE * (cutoff_of(metric) or 1)
