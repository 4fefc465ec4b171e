"""The metrics that there are: the seed table that models, docs and sweep files go by."""

from __future__ import annotations

import csv

from evalake_warehouse.project import Project


def metric_definitions(project: Project) -> list[dict[str, str]]:
    """Rows of `metric_definitions`, as text: metric, measure, cutoff, formula, ..."""
    path = project.dbt_project / "seeds" / "metric_definitions.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
