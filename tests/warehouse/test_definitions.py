"""Names of metrics: those that are defined, and measures that take any cutoff."""

from __future__ import annotations

import pytest

from evalake_warehouse.project import Project
from evalake_warehouse.questions.definitions import is_metric, metric_definitions


@pytest.mark.parametrize(
    "name", ["mrr", "judged@10", "recall@1000", "recall@30", "mrr@7", "ap@25", "ndcg@4"]
)
def test_a_metric_is_a_defined_one_or_a_measure_with_any_cutoff(
    project: Project, name: str
) -> None:
    assert is_metric(project, name)


@pytest.mark.parametrize(
    "name",
    ["recall", "recall@0", "recall@05", "recall@5x", "recal@5", "judged@20", "coverage@3", ""],
)
def test_no_other_name_is_a_metric(project: Project, name: str) -> None:
    assert not is_metric(project, name)


def test_all_metrics_of_a_measure_are_tested_alike(project: Project) -> None:
    """Pairs of any cutoff take the test that the measure's row names."""
    found = {(row["measure"], row["is_binary"]) for row in metric_definitions(project)}
    assert len(found) == len({measure for measure, _ in found})
