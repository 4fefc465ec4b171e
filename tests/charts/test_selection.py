from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.charts.conftest import build_project
from tests.charts.fixture_arms import ARMS, T0, Joins, RunSpec, demo_runs

from evalake_reports.charts import Marts, Selection, open_marts, panels, select
from evalake_reports.charts.paired_rows import paired_rows
from evalake_reports.report.leaderboard import leaderboard
from evalake_warehouse.errors import UsageError


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Marts:
    """Two arms on two datasets and two splits, one limited run, one that never ran."""
    early = T0 - timedelta(days=1)
    runs = [
        RunSpec(ARMS[0], n_tasks=12, started_at=T0),
        RunSpec(ARMS[2], n_tasks=12, started_at=T0 + timedelta(minutes=1)),
        RunSpec(ARMS[1], n_tasks=5, started_at=T0 + timedelta(minutes=2)),
        RunSpec(ARMS[0], n_tasks=12, split="test", started_at=T0 + timedelta(minutes=3)),
        RunSpec(ARMS[2], n_tasks=12, split="test", started_at=T0 + timedelta(minutes=4)),
        RunSpec(ARMS[0], "swe-qa", n_tasks=12, sweep="other", started_at=early),
        RunSpec(ARMS[3], "swe-qa", n_tasks=12, sweep="other", started_at=early),
    ]
    return open_marts(build_project(tmp_path_factory.mktemp("mixed"), runs))


def labels(selection: Selection) -> list[str]:
    return [run.arm_label for run in selection.runs]


def test_runs_of_two_datasets_are_refused_and_both_are_named(mixed: Marts) -> None:
    names = [run.run_id for run in mixed.runs if run.arm_label in ("pydocs-dense", "bm25")]
    with pytest.raises(UsageError, match=r"starter .*bm25.*swe-qa .*pydocs-dense"):
        select(mixed, names)
    with pytest.raises(UsageError, match="swe-qa"):
        panels(mixed, names)


def test_runs_of_two_splits_are_refused(mixed: Marts) -> None:
    with pytest.raises(UsageError, match=r"\(dev\).*\(test\)"):
        select(mixed, family="demo")


def test_a_run_on_fewer_tasks_is_refused_by_name(mixed: Marts) -> None:
    with pytest.raises(UsageError, match=r"12 tasks: bm25; 5 tasks: ripgrep"):
        select(mixed, ["bm25", "ripgrep"], dataset="starter", split="dev")


def test_panels_divide_splits_and_leave_a_partial_run_out_with_the_reason(mixed: Marts) -> None:
    dev, test = panels(mixed, family="demo")
    assert labels(dev) == ["bm25", "pydocs-lexical"]
    assert [(left.run.arm_label, left.reason) for left in dev.left_out] == [
        ("ripgrep", "has 5 of 12 tasks")
    ]
    assert labels(test) == ["bm25", "pydocs-lexical"]
    assert not test.left_out


def test_the_latest_family_is_shown_unless_another_is_named(mixed: Marts) -> None:
    assert {run.dataset for s in panels(mixed) for run in s.runs} == {"starter"}
    assert {run.dataset for s in panels(mixed, family="other") for run in s.runs} == {"swe-qa"}


def test_an_unknown_run_is_answered_with_near_matches(mixed: Marts) -> None:
    with pytest.raises(UsageError, match="bm25"):
        select(mixed, ["bm52"])


def test_of_two_runs_of_one_arm_the_later_is_shown(tmp_path: Path) -> None:
    first, second = demo_runs(ARMS[:1] * 2, n_tasks=6)
    with open_marts(build_project(tmp_path, [first, second])) as marts:
        assert [run.run_id for run in panels(marts)[0].runs] == [second.run_id]


def test_a_limited_run_does_not_stand_for_a_whole_one(tmp_path: Path) -> None:
    whole = RunSpec(ARMS[0], n_tasks=6, started_at=T0)
    limited = RunSpec(ARMS[0], n_tasks=2, started_at=T0 + timedelta(minutes=1))
    with open_marts(build_project(tmp_path, [whole, limited])) as marts:
        [panel] = panels(marts)
    assert [run.run_id for run in panel.runs] == [whole.run_id]
    assert not panel.left_out


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Marts:
    """A family took in the baseline of an earlier one as a candidate; a third has that pair too."""
    later = T0 + timedelta(hours=1)
    also = Joins("also", T0 + timedelta(minutes=3))
    runs = [
        RunSpec(ARMS[0], n_tasks=12, sweep="first", joins=(Joins("second", later), also)),
        RunSpec(ARMS[1], n_tasks=12, sweep="first"),
        RunSpec(ARMS[3], n_tasks=12, sweep="unrelated", started_at=T0 + timedelta(minutes=5)),
        RunSpec(
            replace(ARMS[2], role="baseline"), n_tasks=12, sweep="second",
            started_at=T0 + timedelta(minutes=2), joins=(replace(also, role="baseline"),),
        ),
    ]  # fmt: skip
    return open_marts(build_project(tmp_path_factory.mktemp("shared"), runs))


def test_a_family_has_the_runs_that_joined_it_in_the_role_they_have_there(shared: Marts) -> None:
    def roles(selection: Selection) -> dict[str, str | None]:
        return {run.arm_label: run.role for run in selection.runs}

    first, second = select(shared, family="first"), select(shared, family="second")
    assert roles(first) == {"bm25": "baseline", "ripgrep": "candidate"}
    assert roles(second) == {"bm25": "candidate", "pydocs-lexical": "baseline"}
    assert roles(select(shared, sweep="second")) == roles(second)
    assert {run.family for run in second.runs} == {"second"}
    board = {row["arm"]: row["role"] for row in leaderboard(second)}
    assert board == {"bm25": "candidate", "pydocs-lexical": "baseline"}


def test_a_run_that_joined_is_compared_with_the_baseline_of_the_family_shown(
    shared: Marts,
) -> None:
    second = select(shared, family="second")
    assert second.baseline is not None
    assert second.baseline.arm_label == "pydocs-lexical"
    assert [row["family"] for row in paired_rows(second, "recall@5")] == ["second"]


def test_the_latest_family_is_the_one_that_a_run_came_into_last(shared: Marts) -> None:
    assert {run.family for run in select(shared).runs} == {"second"}


def test_the_baseline_is_the_run_of_that_role_and_can_be_named(demo_marts: Marts) -> None:
    declared = select(demo_marts)
    assert declared.baseline is not None
    assert declared.baseline.arm_label == "bm25"
    named = select(demo_marts, baseline="ripgrep")
    assert named.baseline is not None
    assert named.baseline.arm_label == "ripgrep"


def test_a_baseline_on_another_split_is_refused(mixed: Marts) -> None:
    dev = next(run for run in mixed.runs if run.split == "test")
    with pytest.raises(UsageError, match=r"no run"):
        panels(mixed, dataset="starter", split="dev", baseline=dev.run_id)


def test_labels_that_look_alike_are_told_apart(tmp_path: Path) -> None:
    arms = (
        *(replace(ARMS[0], label="x" * 300 + end) for end in "ab"),
        replace(ARMS[0], label="x" * 150 + "!" + "x" * 150, config={"other": 1}),
        replace(ARMS[0], label="x" * 150 + "?" + "x" * 150, config={"other": 2}),
    )
    with open_marts(build_project(tmp_path, demo_runs(arms, n_tasks=4))) as marts:
        shown = list(panels(marts)[0].labels.values())
    assert len(set(shown)) == 4
    assert max(map(len, shown)) <= 44


def frozen(marts: Marts, path: Path, **changes: object) -> Path:
    """A baseline file as `evalake baseline freeze bm25` writes it, with one score per task."""
    run = next(run for run in marts.runs if run.arm_label == "bm25" and run.split == "dev")
    scores = marts.rows(
        "select task_id, value from fct_task_metrics where run_id = ? and metric = 'recall@5' "
        "order by task_id",
        run.run_id,
    )
    record = {
        "run_id": run.run_id,
        "arm_label": "bm25",
        "dataset": run.dataset,
        "edition": run.edition,
        "split": run.split,
        "primary_metric": "recall@5",
        "status": "ok",
        "started_at": run.started_at.isoformat(),
        **changes,
    }
    content = {
        "evalake_version": "0.1.0",
        "relevance_rules": "1",
        "arm_hash": run.arm_hash,
        "system": "bm25",
        "system_version": "1",
        "record": record,
        "tasks": [row["task_id"] for row in scores],
        "failed": {},
        "metrics": {
            "recall@5": {
                "measure": "recall",
                "level": "symbol",
                "values": [row["value"] for row in scores],
            }
        },
    }
    path.write_text(json.dumps(content))
    return path


def test_a_frozen_file_is_a_baseline_with_the_scores_it_froze(
    demo_marts: Marts, tmp_path: Path
) -> None:
    path = frozen(demo_marts, tmp_path / "baseline.json")
    against_file = select(demo_marts, baseline=str(path))
    against_run = select(demo_marts, baseline="bm25")
    metric = "recall@5"
    from_file = {
        row["label"]: (row["mean_diff"], row["n_pairs"])
        for row in paired_rows(against_file, metric)
    }
    stored = {
        row["label"]: (pytest.approx(row["mean_diff"]), row["n_pairs"])
        for row in paired_rows(against_run, metric)
    }
    assert from_file == stored  # bm25, which was frozen, is not compared with itself


def test_a_frozen_file_of_another_edition_is_refused(demo_marts: Marts, tmp_path: Path) -> None:
    path = frozen(demo_marts, tmp_path / "baseline.json", edition="f" * 12)
    with pytest.raises(UsageError, match="the baseline ran on starter ffffffff"):
        select(demo_marts, baseline=str(path))
