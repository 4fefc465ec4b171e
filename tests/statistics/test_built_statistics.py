"""The statistical marts of a built warehouse, and what is asked of it: compare, gate, baseline."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from lake_factory import RunWriter, docs, write_dataset
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from evalake_cli.main import run_cli
from evalake_warehouse.build import build
from evalake_warehouse.project import Project, find_project_dir
from evalake_warehouse.questions.open_warehouse import open_warehouse, rows

pytestmark = pytest.mark.dbt

ROOT = Path(__file__).resolve().parents[2]
TASKS = [f"t{i}" for i in range(60)]
GOLD = {task: {f"d{i}": 1, f"x{i}": 1} for i, task in enumerate(TASKS)}
LABELS = {
    task: {"repo": f"r{i % 4}", "qa_type": "where" if i % 3 else "why", "stratum": f"r{i % 4}"}
    for i, task in enumerate(TASKS)
}
FAMILY = {"family": "toy sweep", "primary_metric": "recall@5"}


def ranking(i: int, quality: float, rng: random.Random) -> list[dict[str, Any]]:
    names = [f"z{j}" for j in range(5)]
    for prefix in "dx":
        if rng.random() < quality:
            names.insert(rng.randrange(3), f"{prefix}{i}")
    return docs(*names)


def write_run(
    home: Path,
    edition: str,
    label: str,
    quality: float,
    *,
    role: str = "candidate",
    tasks: list[str] = TASKS,
    failing: float = 0.0,
    dataset: str = "toy",
) -> RunWriter:
    rng = random.Random(label)
    run = RunWriter(home, edition, arm_label=label, dataset=dataset)
    run.event("started", n_tasks=len(TASKS), role=role, **FAMILY)
    lists: dict[str, Any] = {}
    for task in tasks:
        found = ranking(TASKS.index(task), quality, rng)
        lists[task] = "error" if rng.random() < failing else found
    run.attempts(lists)
    run.event("finished", n_tasks=len(TASKS), status="complete")
    return run


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    home = tmp_path_factory.mktemp("statistics")
    project = Project(home=home, data_dir=find_project_dir(ROOT))
    edition = write_dataset(home, GOLD, labels=LABELS)
    other = write_dataset(home, {"t0": {"d0": 1}}, edition="otheredition")
    elsewhere = write_dataset(home, {"t0": {"d0": 1}}, dataset="elsewhere")
    runs = {
        "baseline": write_run(home, edition, "baseline", 0.4, role="baseline"),
        "good": write_run(home, edition, "good", 0.95),
        "twin": write_run(home, edition, "baseline", 0.4, role="candidate"),
        "failing": write_run(home, edition, "failing", 0.45, failing=0.4),
        "partial": write_run(home, edition, "partial", 0.45, tasks=TASKS[:21]),
        "one": write_run(home, edition, "one", 0.9, tasks=TASKS[:1]),
        "first-half": write_run(home, edition, "first-half", 0.5, tasks=TASKS[:30]),
        "second-half": write_run(home, edition, "second-half", 0.5, tasks=TASKS[30:]),
        "old-edition": write_run(home, other, "old-edition", 0.5, tasks=TASKS[:1]),
        "elsewhere": write_run(
            home, elsewhere, "elsewhere", 0.5, tasks=TASKS[:1], dataset="elsewhere"
        ),
    }
    build(project)
    return {"project": project, "edition": edition, "runs": {k: r.run_id for k, r in runs.items()}}


@pytest.fixture
def connection(built: dict[str, Any]) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_warehouse(built["project"]) as opened:
        yield opened


@pytest.fixture
def ask(
    built: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    monkeypatch.setenv("EVALAKE_HOME", str(built["project"].home))

    def run(*arguments: str) -> tuple[int, str, str]:
        # "@good" stands for the id of that run: two runs may share a label.
        code = run_cli([built["runs"].get(text[1:], text) for text in arguments])
        captured = capsys.readouterr()
        return int(code), captured.out, captured.err

    return run


def scores(connection: duckdb.DuckDBPyConnection, run_id: str, metric: str) -> dict[str, float]:
    found = connection.execute(
        "select task_id, value from fct_task_metrics where run_id = ? and metric = ? "
        "and value is not null",
        [run_id, metric],
    ).fetchall()
    return dict(found)


def test_run_metrics_agree_with_numpy_scipy_and_statsmodels(
    built: dict[str, Any], connection: duckdb.DuckDBPyConnection
) -> None:
    run_id = built["runs"]["baseline"]
    for metric in ("success@5", "mrr"):
        values = np.array(list(scores(connection, run_id, metric).values()))
        row = rows(
            connection,
            "select * from fct_run_metrics where run_id = ? and metric = ?",
            [run_id, metric],
        )[0]
        assert row["n_scored"] == 60
        assert row["mean"] == pytest.approx(values.mean(), abs=1e-14)
        reference = stats.bootstrap(
            (values,), np.mean, method="percentile", rng=np.random.default_rng(1)
        ).confidence_interval
        # 1,000 draws of a mean with standard error 0.06: an end's Monte Carlo error is about 0.004.
        assert row["ci_low"] == pytest.approx(reference.low, abs=0.02)
        assert row["ci_high"] == pytest.approx(reference.high, abs=0.02)
        assert row["n_clusters"] == 4
        if metric == "success@5":
            low, high = proportion_confint(int(values.sum()), 60, method="wilson")
            assert (row["wilson_low"], row["wilson_high"]) == pytest.approx((low, high), abs=1e-12)
        else:
            assert row["wilson_low"] is None


def test_a_breakout_is_a_run_of_its_slice(
    built: dict[str, Any], connection: duckdb.DuckDBPyConnection
) -> None:
    run_id = built["runs"]["good"]
    values = scores(connection, run_id, "recall@5")
    wanted = [value for task, value in values.items() if LABELS[task]["qa_type"] == "why"]
    row = rows(
        connection,
        "select * from fct_run_breakouts where run_id = ? and dimension = 'qa_type' "
        "and value = 'why' and metric = 'recall@5'",
        [run_id],
    )[0]
    assert (row["n_scored"], row["mean"]) == (len(wanted), pytest.approx(np.mean(wanted)))
    assert row["ci_low"] < row["mean"] < row["ci_high"]


def test_a_family_s_paired_tests_agree_with_scipy(
    built: dict[str, Any], connection: duckdb.DuckDBPyConnection
) -> None:
    runs = built["runs"]
    tests = {
        (row["candidate_run_id"], row["metric"]): row
        for row in rows(
            connection, "select * from fct_paired_tests where edition = ?", [built["edition"]]
        )
    }
    before = scores(connection, runs["baseline"], "success@5")
    after = scores(connection, runs["failing"], "success@5")
    common = sorted(before.keys() & after.keys())
    b = sum(before[task] > after[task] for task in common)
    c = sum(before[task] < after[task] for task in common)
    row = tests[runs["failing"], "success@5"]
    assert (row["n_pairs"], row["only_baseline"], row["only_candidate"]) == (len(common), b, c)
    assert row["mcnemar_p"] == pytest.approx(stats.binomtest(min(b, c), b + c).pvalue, rel=1e-9)
    assert row["n_candidate_failed"] == 60 - len(common)

    differences = [
        scores(connection, runs["good"], "mrr")[task] - value
        for task, value in scores(connection, runs["baseline"], "mrr").items()
    ]
    row = tests[runs["good"], "mrr"]
    assert row["mean_diff"] == pytest.approx(np.mean(differences), abs=1e-14)
    reference = stats.bootstrap(
        (differences,), np.mean, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    assert row["diff_low"] == pytest.approx(reference.low, abs=0.02)
    assert row["mde"] == pytest.approx(2.8016 * np.std(differences, ddof=1) / 60**0.5, rel=1e-4)
    assert (row["verdict"], row["n_tests"]) == ("better", 7)
    assert tests[runs["good"], "recall@5"]["is_primary"]


def test_a_twin_that_returned_the_same_lists_had_no_effect(
    built: dict[str, Any], connection: duckdb.DuckDBPyConnection
) -> None:
    row = rows(
        connection,
        "select * from fct_paired_tests where candidate_run_id = ? and metric = 'success@5'",
        [built["runs"]["twin"]],
    )[0]
    assert (row["only_baseline"], row["only_candidate"], row["mcnemar_midp"]) == (0, 0, 1)
    assert (row["diff_low"], row["diff_high"]) == (0, 0)
    # Two opposite differences among 62: 1.96 * sqrt(2 / 62 / 62) = 0.0447, beyond the margin.
    assert row["adjusted_high"] == pytest.approx(1.959964 * (2 / 62 / 62) ** 0.5, rel=1e-6)
    assert (row["n_same_lists"], row["n_common_lists"], row["verdict"]) == (60, 60, "no_effect")


def test_compare_says_what_the_family_s_mart_says(
    built: dict[str, Any], connection: duckdb.DuckDBPyConnection, ask: Any
) -> None:
    code, out, _ = ask("compare", "@baseline", "@failing", "--json")
    assert code == 0
    tests = {row["metric"]: row for row in json.loads(out)["tests"]}
    stored = rows(
        connection,
        "select * from fct_paired_tests where candidate_run_id = ?",
        [built["runs"]["failing"]],
    )
    assert len(stored) == len(tests) > 30
    for row in stored:
        for column in ("n_pairs", "mean_diff", "diff_low", "diff_high", "p_value", "mde"):
            assert tests[row["metric"]][column] == row[column], (row["metric"], column)


def test_compare_lists_the_tasks_that_flipped(
    built: dict[str, Any], connection: duckdb.DuckDBPyConnection, ask: Any
) -> None:
    _, out, _ = ask("compare", "@baseline", "@good", "--metric", "success@5", "--json")
    flipped = {row["task_id"]: row["direction"] for row in json.loads(out)["flipped"]}
    before = scores(connection, built["runs"]["baseline"], "success@5")
    after = scores(connection, built["runs"]["good"], "success@5")
    expected = {
        task: "won" if after[task] > value else "lost"
        for task, value in before.items()
        if after[task] != value
    }
    assert flipped == expected


@pytest.mark.parametrize(
    ("candidate", "metric", "code", "word"),
    [
        ("good", "recall@5", 0, "holds"),
        ("twin", "success@5", 0, "holds"),
        ("failing", "recall@5", 3, "inconclusive"),  # it failed more
        ("partial", "recall@5", 3, "inconclusive"),  # it lacks tasks
        ("one", "recall@5", 3, "inconclusive"),  # one pair
    ],
)
def test_the_gate_s_word_and_exit_code_agree(
    ask: Any, candidate: str, metric: str, code: int, word: str
) -> None:
    found, out, _ = ask("gate", "@baseline", f"@{candidate}", "--metric", metric, "--json")
    verdict = json.loads(out)
    assert (found, verdict["exit_code"], verdict["verdict"]) == (code, code, word)


def test_the_gate_fails_a_regression_unless_so_much_is_allowed(ask: Any) -> None:
    assert ask("gate", "@good", "@twin")[0] == 1
    assert ask("gate", "@good", "@twin", "--max-drop", "0.9")[0] == 0


def test_disjoint_tasks_allow_no_verdict(ask: Any) -> None:
    code, out, _ = ask("gate", "@first-half", "@second-half", "--json")
    assert (code, json.loads(out)["test"]["n_pairs"]) == (3, 0)
    assert json.loads(out)["test"]["verdict"] == "insufficient"


def test_other_editions_and_datasets_are_refused(ask: Any) -> None:
    code, out, err = ask("compare", "@baseline", "@old-edition")
    assert (code, out) == (2, "")
    assert "the candidate by otheredition, and no edition asks what both answered" in err
    code, _, err = ask("gate", "@baseline", "@elsewhere")
    assert code == 2
    assert "'elsewhere'" in err


def test_all_that_is_wrong_is_said_at_once_with_near_matches(ask: Any) -> None:
    code, _, err = ask("compare", "basline", "goood")
    assert code == 2
    assert "BASELINE: no run 'basline'; did you mean 'baseline'" in err
    assert "CANDIDATE: no run 'goood'; did you mean 'good'" in err
    code, _, err = ask("compare", "@baseline", "@good", "--metric", "recal@5")
    assert code == 2
    assert "did you mean `recall@5`" in err


def test_a_run_is_found_by_id_prefix_label_and_latest(built: dict[str, Any], ask: Any) -> None:
    run_id = built["runs"]["elsewhere"]

    def named(text: str, *wanted: str) -> str:
        _, out, _ = ask("runs", "show", text, *wanted, "--json")
        return str(json.loads(out)["run"]["run_id"])

    ids = sorted(built["runs"].values())
    length = next(
        n for n in range(4, 37) if sum(other.startswith(run_id[:n]) for other in ids) == 1
    )
    for text in (run_id, run_id[:length], "elsewhere"):
        assert named(text) == run_id
    assert named("latest", "--dataset", "elsewhere") == run_id
    assert named("latest", "--dataset", "toy") == built["runs"]["old-edition"]
    code, _, err = ask("compare", run_id, run_id[:4])
    assert code == 2
    assert "run ids start with" in err


def test_a_frozen_baseline_stands_for_its_run(ask: Any, tmp_path: Path) -> None:
    file = tmp_path / "frozen.json"
    assert ask("baseline", "freeze", "@baseline", "--output", str(file))[0] == 0
    assert ask("baseline", "check", str(file))[0] == 0
    live = json.loads(ask("compare", "@baseline", "@failing", "--json")[1])
    frozen = json.loads(ask("compare", str(file), "failing", "--json")[1])
    # What a file holds: scores, so no list of it can be compared.
    about = dict.fromkeys(f"baseline_{name}" for name in ("run_id", "kind", "file", "sha256"))
    about |= dict.fromkeys(("n_common_lists", "n_same_lists"))
    for one, other in zip(live["tests"], frozen["tests"], strict=True):
        assert (one["baseline_kind"], other["baseline_kind"]) == ("run", "frozen")
        assert one | about == other | about
    assert live["flipped"] == frozen["flipped"]
    assert ask("gate", str(file), "good")[0] == 0

    content = json.loads(file.read_text())
    content["metrics"]["recall@5"]["values"][0] = 0.123
    file.write_text(json.dumps(content))
    code, out, _ = ask("baseline", "check", str(file), "--json")
    assert code == 1
    assert [row["frozen"] for row in json.loads(out)["changed"]] == [0.123]


def test_a_frozen_file_is_not_written_over_unasked(ask: Any, tmp_path: Path) -> None:
    file = tmp_path / "frozen.json"
    freeze = ("baseline", "freeze", "--output", str(file))
    assert ask(*freeze, "@baseline")[0] == 0
    assert ask(*freeze, "@baseline")[0] == 0  # the same content harms nobody
    before = file.read_bytes()
    code, _, err = ask(*freeze, "@good")
    assert (code, file.read_bytes()) == (2, before)
    assert "holds another baseline; `--replace` writes over it" in err
    assert ask(*freeze, "@good", "--replace")[0] == 0
    assert file.read_bytes() != before


def test_scores_that_no_measure_gives_are_refused(ask: Any, tmp_path: Path) -> None:
    file = tmp_path / "frozen.json"
    ask("baseline", "freeze", "@baseline", "--output", str(file))
    content = json.loads(file.read_text())
    content["metrics"]["recall@5"]["values"][0] = 7.0
    file.write_text(json.dumps(content))
    code, _, err = ask("gate", str(file), "good")
    assert code == 2
    assert "`metrics.recall@5.values.0" in err
    assert "less than or equal to 1" in err


def test_one_task_too_many_is_not_told_metric_by_metric(ask: Any, tmp_path: Path) -> None:
    file = tmp_path / "frozen.json"
    ask("baseline", "freeze", "@baseline", "--output", str(file))
    content = json.loads(file.read_text())
    content["tasks"].append("one-more")
    file.write_text(json.dumps(content))
    err = ask("gate", str(file), "good")[2]
    assert err.count("values for") == 10
    assert f"and {len(content['metrics']) - 10} more metrics" in err


def test_a_file_that_is_no_baseline_is_refused_with_every_problem(ask: Any, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    assert ask("gate", str(file), "good")[0] == 2
    file.write_text("{")
    assert "cannot be read as JSON" in ask("gate", str(file), "good")[2]
    file.write_text('{"tasks": [], "metrics": {}, "colour": 1}')
    code, _, err = ask("gate", str(file), "good")
    assert code == 2
    assert "`record`: Field required" in err
    assert "`colour`: Extra inputs" in err


def test_runs_added_later_change_no_number_of_the_others_but_p_of_their_family(
    built: dict[str, Any], tmp_path: Path
) -> None:
    """An incremental build says what one from nothing says."""
    import shutil

    home = tmp_path / "copy"
    shutil.copytree(built["project"].home, home, symlinks=True)
    project = Project(home=home, data_dir=built["project"].data_dir)

    def numbers(mart: str, columns: str, order: str) -> list[dict[str, Any]]:
        with open_warehouse(project) as connection:
            return rows(connection, f"select {columns} from {mart} order by {order}")

    def of_runs() -> list[dict[str, Any]]:
        columns = "run_id, metric, mean, ci_low, ci_high, cluster_low, cluster_high, design_effect"
        found = numbers("fct_run_metrics", columns, "run_id, metric")
        return [row for row in found if row["run_id"] in built["runs"].values()]

    def of_pairs(columns: str) -> list[dict[str, Any]]:
        columns = f"edition, candidate_run_id, metric, {columns}"
        return numbers("fct_paired_tests", columns, "edition, candidate_run_id, metric")

    def n_tests(metric: str) -> set[int]:
        return {row["n_tests"] for row in of_pairs("n_tests") if row["metric"] == metric}

    alone = "n_pairs, mean_diff, diff_low, diff_high, sign_flip_p, p_value, mde"
    runs_before, pairs_before = of_runs(), of_pairs(alone)
    assert n_tests("mrr") == {7}
    write_run(home, built["edition"], "later", 0.6)
    build(project)
    assert of_runs() == runs_before
    assert [row for row in of_pairs(alone) if row in pairs_before] == pairs_before
    assert n_tests("mrr") == {8}
    everything, slices = of_pairs("*"), numbers("fct_paired_breakouts", "*", "all")
    build(project, full=True)
    assert of_runs() == runs_before
    assert of_pairs("*") == everything
    assert numbers("fct_paired_breakouts", "*", "all") == slices
