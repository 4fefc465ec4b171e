"""A run that a later sweep took in is compared in that sweep's family, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lake_factory import RunWriter, docs, write_dataset

from evalake_warehouse.build import build
from evalake_warehouse.project import Project, find_project_dir
from evalake_warehouse.questions.open_warehouse import open_warehouse, rows

pytestmark = pytest.mark.dbt

TASKS = [f"t{number}" for number in range(12)]
FIRST = {"family": "first", "sweep_id": "first", "primary_metric": "recall@5"}
SECOND = {"family": "second", "sweep_id": "second", "primary_metric": "mrr"}


def write_run(home: Path, edition: str, label: str, n_found: int, **of_family: Any) -> RunWriter:
    """A finished run that has the right document first for so many tasks, and else none."""
    run = RunWriter(home, edition, arm_label=label)
    run.event("started", n_tasks=len(TASKS), **of_family)
    run.attempts({t: docs("right" if i < n_found else "wrong") for i, t in enumerate(TASKS)})
    run.event("finished", n_tasks=len(TASKS), status="finished", **of_family)
    return run


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("families")


@pytest.fixture(scope="module")
def runs(home: Path) -> dict[str, str]:
    """Two arms of a first sweep, one arm of a second, which takes in one of the first later."""
    edition = write_dataset(home, {task: {"right": 1} for task in TASKS})
    project = Project(home=home, data_dir=find_project_dir(Path(__file__).resolve().parents[2]))
    written = {
        "base": write_run(home, edition, "base", 3, role="baseline", **FIRST),
        "shared": write_run(home, edition, "shared", 6, role="candidate", **FIRST),
        "new": write_run(home, edition, "new", 9, role="candidate", **SECOND),
    }
    build(project)
    written["shared"].event("joined", n_tasks=len(TASKS), role="baseline", **SECOND)
    outcome = build(project)
    assert outcome.changed_runs == (written["shared"].run_id,)
    return {label: run.run_id for label, run in written.items()}


def test_the_family_that_a_run_joined_has_its_comparison_and_the_first_keeps_its_own(
    home: Path, runs: dict[str, str]
) -> None:
    project = Project(home=home, data_dir=home)
    with open_warehouse(project) as connection:
        found = rows(
            connection,
            "select family, baseline_run_id, candidate_run_id, is_primary, mean_diff "
            "from fct_paired_tests where metric = 'mrr' order by family",
        )
    assert [tuple(row.values()) for row in found] == [
        ("first", runs["base"], runs["shared"], False, 0.25),  # 6 of 12 against 3
        ("second", runs["shared"], runs["new"], True, 0.25),  # 9 of 12 against 6
    ]


def test_a_run_keeps_its_first_family_in_dim_runs_and_has_all_in_dim_run_families(
    home: Path, runs: dict[str, str]
) -> None:
    project = Project(home=home, data_dir=home)
    with open_warehouse(project) as connection:
        [own] = rows(
            connection,
            f"select family, role, primary_metric from dim_runs where run_id = '{runs['shared']}'",
        )
        all_of_it = rows(
            connection,
            "select family, role, primary_metric from dim_run_families "
            f"where run_id = '{runs['shared']}' order by joined_at",
        )
    assert tuple(own.values()) == ("first", "candidate", "recall@5")
    assert [tuple(row.values()) for row in all_of_it] == [
        ("first", "candidate", "recall@5"),
        ("second", "baseline", "mrr"),
    ]
