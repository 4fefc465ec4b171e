"""Frozen baselines in a built warehouse: every run of their place is paired with them."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pytest
from lake_factory import RunWriter, docs, write_dataset

from evalake_cli.main import run_cli
from evalake_warehouse.build import BuildResult, batches, build
from evalake_warehouse.project import Project, find_project_dir
from evalake_warehouse.questions.baseline import load_baseline, save
from evalake_warehouse.questions.freezing import freeze
from evalake_warehouse.questions.open_warehouse import open_warehouse, rows
from evalake_warehouse.questions.resolve import resolve_run

pytestmark = pytest.mark.dbt

ROOT = Path(__file__).resolve().parents[2]
TASKS = [f"t{i}" for i in range(60)]
GOLD = {task: {f"d{i}": 1, f"x{i}": 1} for i, task in enumerate(TASKS)}
LABELS = {task: {"qa_type": "where" if i % 3 else "why"} for i, task in enumerate(TASKS)}
FAMILY = {"family": "toy sweep", "primary_metric": "recall@5"}
MARTS = ("dim_baselines", "fct_paired_tests", "fct_paired_breakouts")
# What depends on the other candidates of a family, which two runs alone do not have.
OF_FAMILY = {"family", "n_tests", "p_holm", "p_bh", "verdict"}


@dataclass(frozen=True)
class Lake:
    """A project that was built without a baseline, then with two."""

    project: Project
    edition: str
    runs: dict[str, str]
    declared: list[dict[str, Any]]  # fct_paired_tests before there was a frozen baseline

    @property
    def toy(self) -> Path:
        """What `baseline freeze` wrote of the family's baseline."""
        return self.project.home / "baselines" / "toy.json"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A family of three arms, one of them run twice, a lone run, a control and another edition."""
    home = tmp_path_factory.mktemp("frozen")
    project = Project(home=home, data_dir=find_project_dir(ROOT))
    edition = write_dataset(home, GOLD, labels=LABELS)
    asked = {"t0": "another question"}
    other = write_dataset(home, {"t0": {"d0": 1}}, edition="otheredition", queries=asked)
    written = {
        "base": write_run(home, edition, "base", 0.4, role="baseline"),
        "trial": write_run(home, edition, "good", 0.9, tasks=TASKS[:20]),
        "good": write_run(home, edition, "good", 0.9),
        "failing": write_run(home, edition, "failing", 0.45, failing=0.4),
        "control": write_run(home, edition, "chance", 0.1, role="control"),
        "lone": write_lone(home, edition, "lone", 12),
        "elsewhere": write_run(home, other, "elsewhere", 0.5, tasks=TASKS[:1]),
    }
    runs = {label: run.run_id for label, run in written.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVALAKE_BASELINES", str(home / "baselines"))
        build(project)
        declared = ask(project, "select * from fct_paired_tests order by all")
        freeze_to(project, runs["base"], "toy.json")
        write_made(freeze_to(project, runs["lone"], "made.json"))
        assert build(project).changed_runs == ()
        yield Lake(project, edition, runs, declared)


@pytest.fixture
def copy(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """The same in a place of its own."""
    home = tmp_path / "copy"
    shutil.copytree(lake.project.home, home, symlinks=True)
    monkeypatch.setenv("EVALAKE_BASELINES", str(home / "baselines"))
    monkeypatch.setenv("EVALAKE_HOME", str(home))
    project = Project(home=home, data_dir=lake.project.data_dir)
    return Lake(project, lake.edition, lake.runs, lake.declared)


def write_run(
    home: Path,
    edition: str,
    label: str,
    quality: float,
    *,
    role: str = "candidate",
    tasks: list[str] = TASKS,
    failing: float = 0.0,
) -> RunWriter:
    """A run of the family that finds each document with this chance."""
    rng = random.Random(f"{label} {len(tasks)}")
    run = RunWriter(home, edition, arm_label=label)
    run.event("started", n_tasks=len(tasks), role=role, **FAMILY)
    lists: dict[str, Any] = {}
    for task in tasks:
        found = [f"{prefix}{task[1:]}" for prefix in "dx" if rng.random() < quality]
        lists[task] = "error" if rng.random() < failing else docs("no", *found)
    run.attempts(lists)
    run.event("finished", n_tasks=len(tasks), status="finished")
    return run


def write_lone(home: Path, edition: str, label: str, n_found: int) -> RunWriter:
    """A run of no family that has the right documents first for so many tasks, and else none."""
    run = RunWriter(home, edition, arm_label=label)
    run.event("started", n_tasks=len(TASKS), primary_metric="recall@5")
    run.attempts(
        {t: docs(f"d{i}", f"x{i}") if i < n_found else docs("no") for i, t in enumerate(TASKS)}
    )
    run.event("finished", n_tasks=len(TASKS), status="finished")
    return run


def write_made(file: Path) -> None:
    """Make the file say 1 for the first 30 tasks and else 0, and a timeout for t0."""
    content = json.loads(file.read_text())
    number = {task: int(task[1:]) for task in content["tasks"]}
    for record in content["metrics"].values():
        record["values"] = [1.0 if number[task] < 30 else 0.0 for task in content["tasks"]]
    content["metrics"]["success@5"]["values"][content["tasks"].index("t0")] = None
    content["failed"] = {"t0": "timeout"}
    file.write_text(json.dumps(content))


def freeze_to(project: Project, run_id: str, name: str) -> Path:
    file = project.baselines / name
    with open_warehouse(project) as connection:
        save(freeze(connection, resolve_run(connection, run_id)), file, replace=True)
    return file


def ask(project: Project, sql: str) -> list[dict[str, Any]]:
    with open_warehouse(project) as connection:
        return rows(connection, sql)


def built(project: Project) -> BuildResult:
    outcome = build(project)
    assert outcome.build_id is not None
    return outcome


def pairs(project: Project) -> set[tuple[str, str]]:
    """(file, candidate) of every comparison with a frozen baseline."""
    found = ask(
        project,
        "select distinct baseline_file, candidate_run_id from fct_paired_tests "
        "where baseline_kind = 'frozen'",
    )
    return {(row["baseline_file"], row["candidate_run_id"]) for row in found}


def measured(project: Project) -> dict[str, list[dict[str, Any]]]:
    """What was measured against each baseline."""
    by_baseline: dict[str, list[dict[str, Any]]] = {}
    for row in ask(project, "select * from int_pair_measures order by all"):
        by_baseline.setdefault(row["baseline_run_id"], []).append(row)
    return by_baseline


def assert_as_from_nothing(project: Project) -> None:
    """Every mart about pairs is, row for row, what a build from an empty file makes."""
    kept = project.home / "incremental.duckdb"
    shutil.copyfile(project.warehouse.resolve(), kept)
    build(project, full=True)
    with duckdb.connect() as connection:  # what a reader opens can attach no other file
        connection.execute(f"attach '{kept}' as old (read_only)")
        connection.execute(f"attach '{project.warehouse.resolve()}' as warehouse (read_only)")
        for mart in MARTS:
            for one, other in (("old", "warehouse"), ("warehouse", "old")):
                extra = connection.execute(
                    f"select * from {one}.{mart} except all select * from {other}.{mart}"
                ).fetchall()
                assert not extra, (mart, one, extra[:2])


def test_every_run_of_its_place_meets_a_frozen_baseline_and_declared_pairs_stay(
    lake: Lake,
) -> None:
    candidates = {"base", "trial", "good", "failing", "lone"}  # no control, no other edition
    assert pairs(lake.project) == {
        (file, lake.runs[name]) for file in ("toy.json", "made.json") for name in candidates
    }
    assert {row["baseline_kind"] for row in lake.declared} == {"run"}
    declared = "select * from fct_paired_tests where baseline_kind = 'run' order by all"
    assert ask(lake.project, declared) == lake.declared
    [frozen] = ask(lake.project, "select * from dim_baselines where file = 'toy.json'")
    assert (frozen["run_id"], frozen["arm_label"]) == (lake.runs["base"], "base")
    assert frozen["sha256"] == hashlib.sha256(lake.toy.read_bytes()).hexdigest()


def test_p_is_adjusted_over_the_arms_of_the_family_and_apart_from_the_declared_baseline(
    lake: Lake,
) -> None:
    found = ask(
        lake.project,
        "select candidate_run_id, family, n_tests, n_pairs from fct_paired_tests "
        "where baseline_file = 'toy.json' and metric = 'recall@5'",
    )
    by_run = {row.pop("candidate_run_id"): tuple(row.values()) for row in found}
    # Two arms of the family are held against the file. The run that was frozen, an older run of
    # one arm and a run of no family are adjusted for themselves alone.
    family, lone = FAMILY["family"], lake.runs["lone"]
    assert by_run[lake.runs["good"]] == (family, 2, 60)
    assert by_run[lake.runs["failing"]][:2] == (family, 2)
    assert by_run[lake.runs["base"]] == (family, 1, 60)
    assert by_run[lake.runs["trial"]] == (family, 1, 20)
    assert by_run[lone] == (lone, 1, 60)


def test_the_numbers_are_right(lake: Lake) -> None:
    """12 of 60 tasks found by the lone run; the file says 1 for the first 30 tasks, else 0."""
    lone = f"baseline_file = 'made.json' and candidate_run_id = '{lake.runs['lone']}'"
    [row] = ask(
        lake.project, f"select * from fct_paired_tests where metric = 'success@5' and {lone}"
    )
    # Of t1 to t59, the file has 29 and the run 11; the 18 of t12 to t29 only the file has.
    expected = {
        "n_pairs": 59,
        "n_baseline_scored": 59,
        "n_candidate_scored": 60,
        "n_baseline_failed": 1,
        "n_candidate_failed": 0,
        "only_baseline": 18,
        "only_candidate": 0,
        "verdict": "worse",
    }
    assert {name: row[name] for name in expected} == expected
    assert row["mean_diff"] == pytest.approx(-18 / 59, abs=1e-12)
    assert row["baseline_mean"] == pytest.approx(29 / 59, abs=1e-12)
    assert row["mcnemar_p"] == pytest.approx(2 * 0.5**18, rel=1e-12)
    slices = ask(
        lake.project,
        "select value, n_pairs, only_baseline from fct_paired_breakouts "
        f"where dimension = 'qa_type' and metric = 'recall@5' and {lone} order by value",
    )
    # recall@5 has all 60 tasks; 'why' is every third: t12, t15, ..., t27 are six of 20.
    assert [tuple(row.values()) for row in slices] == [("where", 40, 12), ("why", 20, 6)]


def test_mart_compare_and_gate_say_the_same(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVALAKE_HOME", str(lake.project.home))
    for candidate in ("good", "failing", "trial", "lone"):
        run_id = lake.runs[candidate]
        found = ask(
            lake.project,
            "select * from fct_paired_tests where baseline_file = 'toy.json' "
            f"and candidate_run_id = '{run_id}'",
        )
        stored = {row["metric"]: row for row in found}
        run_cli(["compare", str(lake.toy), run_id, "--json"])
        compared = {row["metric"]: row for row in json.loads(capsys.readouterr().out)["tests"]}
        assert compared.keys() == stored.keys()
        # A run adjusted for itself alone has the same p and the same verdict, too.
        alone = candidate not in {"good", "failing"}
        left_out = {"family", "n_tests", "p_bh"} if alone else OF_FAMILY
        for metric, row in stored.items():
            expected = {name: value for name, value in row.items() if name not in left_out}
            assert {name: compared[metric][name] for name in expected} == expected
        run_cli(["gate", str(lake.toy), run_id, "--json"])
        test = json.loads(capsys.readouterr().out)["test"]
        assert test["metric"] == "recall@5"
        assert test == compared["recall@5"]


def test_another_a_changed_and_a_removed_file_change_their_own_rows_and_no_others(
    copy: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = copy.project
    one = measured(project)
    second = freeze_to(project, copy.runs["good"], "second.json")
    with monkeypatch.context() as patch:  # 60 tasks x 30 metrics a run: six runs, by three
        patch.setattr(batches, "ROWS_PER_BATCH", 3 * 60 * 30)
        steps: list[str] = []
        assert build(project, on_step=steps.append).changed_runs == ()
    assert "batch 2/2: built fct_paired_tests" in steps
    both = measured(project)
    assert len(both) == len(one) + 1
    assert {name: both[name] for name in one} == one
    assert build(project).build_id is None  # nothing changed

    content = json.loads(second.read_text())
    content["metrics"]["recall@5"]["values"] = [0.0] * len(content["tasks"])
    second.unlink()
    second.with_name("changed.json").write_text(json.dumps(content))
    assert built(project).changed_runs == ()
    changed = measured(project)
    assert {name: changed.get(name) for name in one} == one
    means = ask(
        project,
        "select distinct baseline_mean from fct_paired_tests "
        "where baseline_file = 'changed.json' and metric = 'recall@5'",
    )
    assert [row["baseline_mean"] for row in means] == [0.0]
    assert {name for name, _ in pairs(project)} == {"toy.json", "made.json", "changed.json"}
    assert_as_from_nothing(project)

    for file in project.baselines.glob("*.json"):
        file.unlink()
    built(project)
    assert ask(project, "select * from fct_paired_tests order by all") == copy.declared
    assert ask(project, "select * from dim_baselines") == []
    assert not [name for name in measured(project) if name.startswith("frozen:")]


def test_runs_that_come_go_change_and_join_are_as_from_nothing(copy: Lake) -> None:
    """A run that changes while a file is away is measured anew when the file is back."""
    project, home = copy.project, copy.project.home
    away = copy.toy.rename(copy.toy.with_suffix(".away"))
    late = RunWriter(
        home, copy.edition, run_id=copy.runs["lone"], arm_label="lone", _parts=count(9)
    )
    late.attempts({"t59": docs("d59", "x59")}, attempt=2)
    later = write_run(home, copy.edition, "later", 0.6)
    again = write_run(home, copy.edition, "failing", 0.5)  # failing's arm, run anew
    lone = write_lone(home, copy.edition, "another lone", 30)
    built(project)
    assert {run for file, run in pairs(project) if file == "made.json"} == {
        *(copy.runs[name] for name in ("base", "trial", "good", "failing", "lone")),
        *(run.run_id for run in (later, again, lone)),
    }

    away.rename(copy.toy)
    lone.event("joined", n_tasks=len(TASKS), role="candidate", **FAMILY)
    for file in (home / "lake").rglob(f"{copy.runs['trial']}*.parquet"):
        file.unlink()
    built(project)
    found = ask(
        project,
        "select candidate_run_id, n_tests, candidate_mean from fct_paired_tests "
        "where baseline_file = 'toy.json' and metric = 'success@5'",
    )
    n_tests = {row["candidate_run_id"]: row["n_tests"] for row in found}
    arms = (copy.runs["good"], later.run_id, again.run_id, lone.run_id)
    assert {run: n for run, n in n_tests.items() if n > 1} == dict.fromkeys(arms, 4)
    assert copy.runs["trial"] not in n_tests
    means = {row["candidate_run_id"]: row["candidate_mean"] for row in found}
    assert means[copy.runs["lone"]] == pytest.approx(13 / 60, abs=1e-12)
    assert_as_from_nothing(project)


def test_a_file_that_cannot_be_read_is_named_and_the_others_count(
    copy: Lake, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy.project.baselines
    shutil.copyfile(copy.toy, folder / "twin.json")  # the same content is no second baseline
    (folder / "torn.json").write_text('{"tasks": [')
    twice = json.loads(copy.toy.read_text())
    twice["tasks"][1] = twice["tasks"][0]
    twice["metrics"]["recall@5"]["values"][0] = float("nan")
    (folder / "twice.json").write_text(json.dumps(twice))
    assert run_cli(["build", "--json"]) == 3
    said = capsys.readouterr()
    assert "torn.json: cannot be read as JSON" in said.err
    assert "twice.json: `metrics.recall@5.values.0`: Input should be a finite number" in said.err
    assert json.loads(said.out)["build_id"] is None
    twice["metrics"]["recall@5"]["values"][0] = 0.5
    (folder / "twice.json").write_text(json.dumps(twice))
    assert run_cli(["build"]) == 3
    assert "twice.json: `tasks`: a task stands there twice" in capsys.readouterr().err


def test_the_hash_is_that_of_the_file_and_known_before_it_is_written(
    lake: Lake, tmp_path: Path
) -> None:
    with open_warehouse(lake.project) as connection:
        baseline = freeze(connection, resolve_run(connection, lake.runs["base"]))
    file = tmp_path / "toy.json"
    save(baseline, file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert baseline.sha256 == digest == load_baseline(file).sha256
    assert baseline.run.run_id == f"frozen:{lake.runs['base']}@{digest[:12]}"


def test_baselines_lie_beside_the_code_and_in_the_home_where_a_package_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EVALAKE_BASELINES")
    checkout = Project(home=tmp_path / "home", data_dir=tmp_path / "code")
    installed = Project(home=tmp_path / "home", data_dir=tmp_path / "site" / "_shipped")
    assert checkout.baselines == tmp_path / "code" / "baselines"
    assert installed.baselines == tmp_path / "home" / "baselines"
    monkeypatch.setenv("EVALAKE_BASELINES", str(tmp_path / "mine"))
    assert checkout.baselines == installed.baselines == tmp_path / "mine"
