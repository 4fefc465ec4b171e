"""Why tasks failed, told where people look: after a run, in `runs show`, and in its log."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from driving import arm, run, statuses
from handmade import system, write
from toy import PYTHONPATH, evalake

from evalake_runners.engine.failures import Failure, grouped, read_failures, told
from evalake_runners.workers.run_log import MAX_BYTES, MAX_WORKER_BYTES, keep_output, log_file
from evalake_warehouse.lake.reader import list_lake
from evalake_warehouse.project import Project


def _told(*reasons: str, status: str = "error") -> list[tuple[int, str, int]]:
    found = grouped((f"task-{n:05d}", status, reason) for n, reason in enumerate(reasons))
    return [(failure.n_tasks, failure.reason, failure.n_reasons) for failure in found]


@pytest.mark.parametrize(
    "reasons",
    [
        ("KeyError: 'src/a.py'", "KeyError: 'src/other.py'"),
        ("no hit for task-00000", "no hit for task-00001"),
        ("404 for http://127.0.0.1:8000/q/17", "404 for http://127.0.0.1:8000/q/18"),
        ("id 0d9f1c2ab3 is gone", "id 77aa01bcde is gone"),
        ("request 12 took 3.4 s", "request 9 took 17.25 s"),
        ('bad name "x"', 'bad name "some other"'),
        ("opening /tmp/a/b: gone", "opening /var/c: gone"),
    ],
)
def test_reasons_that_differ_in_what_is_particular_to_a_task_are_one(
    reasons: tuple[str, str],
) -> None:
    assert _told(*reasons) == [(2, reasons[0], 2)]


def test_other_causes_stay_apart_and_the_most_frequent_comes_first() -> None:
    assert _told("TypeError: a", "ValueError: a", "ValueError: a", "TypeError: b") == [
        (2, "ValueError: a", 1), (1, "TypeError: a", 1), (1, "TypeError: b", 1),
    ]  # fmt: skip
    both = grouped([("a", "error", "gone"), ("b", "timeout", "gone")])
    assert [(failure.status, failure.n_tasks) for failure in both] == [("error", 1), ("timeout", 1)]


def test_a_person_is_told_three_kinds_and_how_many_more_there_are() -> None:
    reasons = [Failure("error", n, f"{'abcde'[5 - n]} failed", 1) for n in (5, 4, 3, 2, 1)]
    assert told(reasons) == [
        "5 error: a failed", "4 error: b failed", "3 error: c failed",
        "3 for 2 other reasons (--json has all)",
    ]  # fmt: skip
    assert str(Failure("error", 4, "KeyError: 'a'", 3)) == (
        "4 error: KeyError: 'a' (and 2 more like it)"
    )


@pytest.mark.parametrize(
    ("reason", "is_of_code"),
    [
        ("TypeError: search returned list, not Answer", True),
        ("opening: AttributeError: 'X' object has no attribute 'search'", True),
        ("starting: ModuleNotFoundError: No module named 'x'", True),
        ("httpx.ConnectError: refused", False),
        ("json.decoder.JSONDecodeError: Expecting value", False),
        ("worker was killed by SIGKILL (out of memory?)", False),
        ("no answer in 20 s", False),
        ("SystemFailedError: rg ended with 2", False),
    ],
)
def test_a_fault_of_code_is_told_from_one_of_the_moment(reason: str, is_of_code: bool) -> None:
    assert Failure("error", 1, reason, 1).is_of_code is is_of_code


def test_a_run_says_why_and_where_the_rest_is(toy: Project, tmp_path: Path) -> None:
    text = system(
        imports="import sys",
        search='print("thinking about", query.task_id)\n'
        'print("a warning", file=sys.stderr)\n'
        "return [query.text]",
    )
    write(tmp_path / "own", {"glue.py": text})
    flags = ("--system", "python:glue", "--dataset", "toy", "--split", "all", "--confirm", "why")
    path = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "own"), *PYTHONPATH])}
    ended = evalake(toy, "run", *flags, **path)
    assert ended.code == 3
    assert "python:glue on toy: no answer to" in ended.err
    assert "  12 error: TypeError: search returned list, not Answer" in ended.err
    assert "hint: mend the code and give the same command again" in ended.err
    (log,) = (toy.home / "logs").iterdir()
    assert f"what the system printed, with tracebacks: {log}" in ended.err
    kept = log.read_text()
    assert "thinking about task-00003" in kept
    assert "a warning" in kept
    assert "TypeError: search returned list, not Answer" in kept
    again = json.loads(evalake(toy, "run", *flags, "--json", **path).out)
    assert again[0]["state"] == "done"
    assert again[0]["failures"] == [
        {"status": "error", "n_tasks": 12, "n_reasons": 1,
         "reason": "TypeError: search returned list, not Answer"}
    ]  # fmt: skip


def test_what_may_go_well_another_time_is_hinted_with_the_command_for_it(toy: Project) -> None:
    sweep = toy.home / "s.yaml"
    sweep.write_text(
        "name: s\ndatasets: [{dataset: toy, split: all}]\n"
        "arms: [{system: 'python:misbehaving', config: {on: {'00004': crash, '00007': garbage}}}]\n"
    )
    ended = evalake(toy, "run", str(sweep), "--confirm", "two words")
    assert f"hint: evalake resume {sweep} --confirm 'two words'" in ended.err
    assert "1 error: worker was killed by SIGSEGV: last words of the system" in ended.err


def test_runs_show_has_the_reasons_and_the_log(toy: Project) -> None:
    (failed,) = run(toy, arm(on={"task-00004": "raise", "task-00007": "not_attempted"}))
    assert evalake(toy, "build").code == 0
    text = evalake(toy, "runs", "show", str(failed.run_id))
    assert "ValueError: it went wrong" in text.out
    assert f"what the system printed: {log_file(toy.home, str(failed.run_id))}" in text.err
    record = json.loads(evalake(toy, "runs", "show", str(failed.run_id), "--json").out)
    assert record["log"] == str(log_file(toy.home, str(failed.run_id)))
    assert [(row["status"], row["n_tasks"]) for row in record["failures"]] == [
        ("error", 1), ("not_attempted", 1),
    ]  # fmt: skip


def test_a_task_that_resume_got_an_answer_to_has_no_failure(
    toy: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = (
        "import os\n"
        "if 'TOY_IS_UP' not in os.environ: raise ConnectionError('refused')\n"
        "return Answer(hits=[])"
    )
    write(tmp_path / "own", {"reasons_service.py": system(search=search)})
    monkeypatch.syspath_prepend(str(tmp_path / "own"))
    (failed,) = run(toy, arm("python:reasons_service"))
    run_id = str(failed.run_id)
    assert str(read_failures(list_lake(toy.home), [run_id])[run_id][0]) == (
        "12 error: ConnectionError: refused"
    )
    monkeypatch.setenv("TOY_IS_UP", "1")
    run(toy, arm("python:reasons_service"), retry_failed=True)
    assert read_failures(list_lake(toy.home), [run_id]) == {}


def test_the_last_words_of_a_crash_are_of_its_own_task(toy: Project) -> None:
    run(toy, arm(on={"task-00004": "raise", "task-00005": "quiet_kill"}))
    reason = statuses(toy)["task-00005"][1]
    assert reason == "worker was killed by SIGKILL (out of memory?)"


def test_a_run_that_prints_nothing_has_no_log(toy: Project) -> None:
    run(toy, arm("random"))
    assert not (toy.home / "logs").exists()


def test_a_log_keeps_no_secret(toy: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_API_KEY", "hunter2-hunter2")
    (failed,) = run(toy, arm(on={"task-00004": "secret"}))
    kept = log_file(toy.home, str(failed.run_id)).read_text()
    assert "hunter2" not in kept
    assert "401 for key ***" in kept


def _keep(log: Path, text: bytes) -> None:
    with tempfile.TemporaryFile() as output:
        output.write(text)
        output.flush()
        keep_output(log, output, "worker 1")


def test_a_log_is_bounded_and_keeps_the_first_and_last_lines_of_a_worker(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "run.log"
    _keep(log, b"first\n" + b"x" * 99 + b"\n" + b"middle\n" * 1_000_000 + b"last\n")
    kept = log.read_text()
    assert len(kept) < MAX_WORKER_BYTES + 200
    lines = kept.splitlines()
    assert lines[1] == "first"
    assert lines[-1] == "last"
    assert any("bytes left out" in line for line in lines)
    for number in range(8):
        _keep(log, f"worker number {number}\n".encode() + b"y" * 200_000 + b"\n")
    kept = log.read_text()
    assert len(kept.encode()) <= MAX_BYTES
    assert "worker number 7" in kept
    assert "first" not in kept


def test_a_line_without_end_is_no_reason_to_keep_half_a_secret(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    _keep(log, b"a" * 3_000_000)
    assert "aaa" not in log.read_text()


def test_what_a_terminal_would_act_on_is_written_visibly(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    _keep(log, b"\x1b[31mred\x00\xff\n")
    assert log.read_text().splitlines()[1] == "\\x1b[31mred\\x00\N{REPLACEMENT CHARACTER}"
