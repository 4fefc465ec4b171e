"""The commands as a user meets them: data on stdout, messages on stderr, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from driving import arm, run
from toy import environment, evalake, rows

from evalake_runners.engine.locks import cell_lock_file, try_lock
from evalake_warehouse.project import Project

# Each takes over 100 ms to import, and none is needed to print a help text.
HEAVY = (
    "altair", "bm25s", "dbt", "duckdb", "httpx", "mcp", "numpy", "pandas", "polars", "pyarrow",
    "pydantic", "pydocs_mcp", "rich.progress", "ruamel", "scipy", "torch", "vl_convert",
)  # fmt: skip


def test_help_imports_nothing_heavy(toy: Project) -> None:
    code = (
        "import sys; from evalake_cli.main import run_cli\n"
        "try: run_cli(['--help'])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(toy),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Commands:" in done.stdout
    assert json.loads(done.stderr.replace("'", '"')) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--limit", "0"], "greater than or equal to 1"),
        (["--split", "tset"], "unknown split `tset`; did you mean `test`?"),
        (["--split", "test"], "--confirm: toy test: tasks of the test tail"),
        (["--repo", "toy/none"], "split `dev` of `toy` has no task of repo `toy/none`"),
        (["--cache", "maybe"], "`maybe` is neither on nor off"),
        (["--jbos", "2"], "No such option: --jbos"),
    ],
)
def test_a_wrong_flag_runs_nothing(toy: Project, arguments: list[str], message: str) -> None:
    ended = evalake(toy, "run", "--system", "random", "--dataset", "toy", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert "Traceback" not in ended.err
    assert rows(toy, "runs") == []


def test_an_unknown_dataset_says_how_to_get_it(toy: Project) -> None:
    ended = evalake(toy, "plan", "--system", "random", "--dataset", "starter")
    assert ended.code == 2
    assert ended.err.endswith("hint: evalake ingest starter\n")


def test_a_new_label_for_an_arm_that_is_done_is_told_and_not_recorded(toy: Project) -> None:
    flags = ("--system", "random", "--dataset", "toy")
    first = evalake(toy, "run", *flags)
    assert "run before as" not in first.err
    (run_id,) = {row["run_id"] for row in rows(toy, "runs")}
    told = (
        "other on toy: the same arm was run before as `random`, so that nothing is left to run; "
        f"the run keeps that label: evalake runs show {run_id[:13]}"
    )
    for verb in ("plan", "run", "resume"):
        again = evalake(toy, verb, *flags, "--label", "other")
        assert (again.code, again.err.splitlines()[0]) == (0, told)
        assert "run_label" not in again.out
    listed = json.loads(evalake(toy, "run", *flags, "--label", "other", "--json").out)
    assert [(row["arm"], row["run_label"], row["state"]) for row in listed] == [
        ("other", "random", "done")
    ]
    assert {row["arm_label"] for row in rows(toy, "runs")} == {"random"}


def test_a_plan_spends_nothing_and_knows_what_is_done_and_how_long_it_took(toy: Project) -> None:
    ended = evalake(toy, "plan", "--system", "random", "--dataset", "toy", "--json")
    (row,) = json.loads(ended.out)
    assert (row["state"], row["to_do"], row["to_index"], row["expected_s"]) == ("new", 6, 1, None)
    assert not list(toy.lake.glob("runs/dataset=toy/*/*.parquet"))
    ran = evalake(toy, "run", "--system", "random", "--dataset", "toy", "--json")
    (result,) = json.loads(ran.out)
    assert (ran.code, result["asked_now"], result["failed"]) == (0, 6, 0)
    (row,) = json.loads(
        evalake(toy, "plan", "--system", "random", "--dataset", "toy", "--json").out
    )
    assert (row["state"], row["to_do"], row["expected_s"]) == ("done", 0, 0.0)
    other = evalake(toy, "plan", "--system", "random", "--dataset", "toy", "--seed", "1", "--json")
    (row,) = json.loads(other.out)
    assert (row["state"], row["to_index"]) == ("new", 0)
    assert row["expected_s"] > 0


def test_a_look_needs_a_reason_and_leaves_a_row_and_a_line(toy: Project, tmp_path: Path) -> None:
    ended = evalake(
        toy, "run", "--system", "random", "--dataset", "toy", "--split", "test",
        "--confirm", "the last word", EVALAKE_WHO="reviewer",
    )  # fmt: skip
    assert ended.code == 0
    (look,) = json.loads(evalake(toy, "audit", "looks", "--json").out)
    assert (look["who"], look["why"], look["split"]) == ("reviewer", "the last word", "test")
    (line,) = (tmp_path / "looks.jsonl").read_text().splitlines()
    assert json.loads(line)["run_id"] == look["run_id"]


def test_an_arm_that_failed_on_every_task_ends_with_3(toy: Project) -> None:
    config = toy.home / "broken.yaml"
    config.write_text('system: "python:misbehaving"\nconfig: {everywhere: raise}\n')
    name = ("--system", "python:misbehaving", "--config", str(config), "--dataset", "toy")
    first = evalake(toy, "run", *name)
    assert first.code == 3
    assert "6 tasks failed" in first.err
    assert "hint: evalake resume" in first.err
    assert evalake(toy, "run", *name).code == 3  # nothing to do, and still not whole


def test_cache_info_lists_and_evict_deletes_indexes_but_no_evidence(toy: Project) -> None:
    run(toy, arm(), arm("random"))
    (toy.indexes / "misbehaving" / "0-0.1.tmp").mkdir()  # what a killed build leaves
    listed = json.loads(evalake(toy, "cache", "info", "--json").out)
    assert sorted((row["system"], row["complete"]) for row in listed) == [
        ("misbehaving", False), ("misbehaving", True), ("random", True),
    ]  # fmt: skip
    assert evalake(toy, "cache", "evict").code == 2
    before = len(rows(toy, "attempts"))
    with try_lock(cell_lock_file(toy.home, "0" * 32)):  # as a running sweep holds one
        refused = evalake(toy, "cache", "evict", "--all")
    assert (refused.code, "its indexes are in use" in refused.err) == (2, True)
    assert evalake(toy, "cache", "evict", "--system", "misbehaving").code == 0
    left = json.loads(evalake(toy, "cache", "info", "--json").out)
    assert [row["system"] for row in left] == ["random"]
    assert len(rows(toy, "attempts")) == before


def test_doctor_finds_the_systems_and_a_torn_file(toy: Project) -> None:
    found = {row["subject"]: row for row in json.loads(evalake(toy, "doctor", "--json").out)}
    assert found["rg"]["works"] is True
    assert found["system bm25"]["works"] is True
    torn = toy.lake / "hits" / "dataset=toy" / "run_date=2026-01-01" / "torn.parquet"
    torn.parent.mkdir(parents=True)
    torn.write_bytes(b"PAR1 and no more")
    ended = evalake(toy, "doctor")
    assert ended.code == 3
    assert "torn.parquet" in ended.err


def test_config_show_has_the_effective_configuration_and_the_hash(toy: Project) -> None:
    ended = evalake(toy, "config", "show", str(toy.configs / "systems" / "bm25.yaml"), "--json")
    (row,) = json.loads(ended.out)
    assert row["config"]["k1"] == 1.5
    assert len(row["arm_hash"]) == 64
    schema = json.loads(evalake(toy, "config", "schema", "bm25", "--json").out)
    assert schema["additionalProperties"] is False


def test_a_reader_that_stops_is_no_regression(toy: Project) -> None:
    code = "from evalake_cli.main import main; main()"
    command = [sys.executable, "-c", code, "datasets", "list"]
    process = subprocess.Popen(
        command, env=environment(toy), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.close()  # long before the command has anything to say
    assert process.stderr is not None
    with process.stderr as stream:
        told = stream.read()
    assert (process.wait(), told) == (141, "")
