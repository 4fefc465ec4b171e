"""Whatever a command ends with is a message and an exit code, and never the one of a regression."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import NoReturn

import duckdb
import pytest
from pydantic import BaseModel
from toy import environment, evalake

from evalake_cli import main
from evalake_cli.main import run_cli
from evalake_warehouse.errors import UsageError
from evalake_warehouse.project import Project

MAIN = "from evalake_cli.main import main; main()"
HELD = (
    'Could not set lock on file "/x/warehouse.duckdb": Conflicting lock is held in '
    "/usr/bin/python3.11 (PID 4711) by user u."
)


@pytest.fixture(autouse=True)
def _logs_are_kept_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))


class Panic(BaseException):
    """As Rust extensions raise it: no `Exception`."""


class Small(BaseModel):
    n: int


def raising(error: BaseException) -> Callable[..., NoReturn]:
    def command(**_: object) -> NoReturn:
        raise error

    return command


def deep(**_: object) -> object:
    return json.loads("[" * 100_000)


def undecodable(**_: object) -> object:
    return b"\xff".decode()


def unencodable(**_: object) -> object:
    return "\ud800".encode()


def invalid(**_: object) -> object:
    return Small(n="x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        (raising(KeyError("rank")), 2, "internal: KeyError: 'rank' (main.py:"),
        (raising(AssertionError()), 2, "internal: AssertionError"),
        (raising(Panic("a rust panic")), 2, "internal: Panic: a rust panic"),
        (raising(SystemExit(7)), 2, "internal: SystemExit: 7"),
        (raising(SystemExit(0)), 2, "internal: SystemExit: 0"),
        (deep, 2, "nested too deeply: RecursionError"),
        (undecodable, 2, "a text is not valid Unicode: UnicodeDecodeError"),
        (unencodable, 2, "a text is not valid Unicode: UnicodeEncodeError"),
        (invalid, 2, "n: Input should be a valid integer"),
        (raising(MemoryError()), 2, "not enough memory"),
        (raising(BrokenProcessPool("gone")), 3, "a worker process was killed"),
        (raising(PermissionError(13, "Permission denied", "/x")), 2, "/x: Permission denied"),
        (raising(OSError(errno.ENOSPC, "No space left on device", "/x")), 2, "/x: No space left"),
        (raising(IsADirectoryError(21, "Is a directory", "/x")), 2, "/x: Is a directory"),
        (raising(duckdb.IOException(HELD)), 2, "held by python3.11 (pid 4711)"),
        (raising(duckdb.IOException("No space left on device")), 2, "the disk is full"),
        (raising(duckdb.IOException("Corrupt database file: x")), 2, "the warehouse is damaged"),
        (raising(duckdb.OutOfMemoryException("x")), 2, "too much for this machine"),
        (raising(UsageError("as told", where="here")), 2, "here: as told"),
        (raising(KeyboardInterrupt()), 130, ""),
    ],
)  # fmt: skip
def test_an_error_of_any_kind_is_told(
    command: Callable[..., object],
    code: int,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(main, "app", command)
    assert run_cli(["runs", "list"]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Traceback" not in shown.err
    assert told in shown.err
    assert shown.err.startswith("error: " if code != 130 else "interrupted")


def test_the_traceback_of_what_nobody_foresaw_is_in_a_file_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("SOME_API_KEY", "hunter2hunter2")
    monkeypatch.setattr(main, "app", raising(KeyError("hunter2hunter2")))
    assert run_cli(["runs", "list"]) == 2
    (log,) = (tmp_path / "home" / "logs").iterdir()
    told = capsys.readouterr().err
    assert f"please report it with {log}" in told
    assert "Traceback (most recent call last)" in log.read_text()
    assert "hunter2" not in told + log.read_text()


def test_a_home_that_is_not_there_is_not_made_for_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "app", raising(KeyError("x")))
    assert run_cli(["runs", "list"]) == 2
    assert not (tmp_path / "home").exists()
    assert list((tmp_path / "temporary" / "evalake" / "logs").iterdir())


RUN = ("run", "--system", "random", "--dataset", "toy")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((*RUN, "--timeout", "100000"), "--timeout: Input should be less than or equal to 86400"),
        ((*RUN, "--timeout", "inf"), "--timeout: Input should be"),
        ((*RUN, "--timeout", "nan"), "'--timeout': Input should be"),
        (("run", "--system", "random", "--dataset", "my data"), "--dataset: String should match"),
        (("run", "--system", "random", "--dataset", ""), "--dataset: empty"),
        ((*RUN, "--repo", ""), "--repo: empty"),
        ((*RUN, "--seed", str(2**70)), "'--seed': Input should be"),
        ((*RUN, "--corpus-dir", "~nobody-7c1f/x"), "does not exist"),
        (("compare", "a", "b", "--metric", ""), "--metric: empty"),
        (("compare", "a", "b", "--metric="), "--metric: empty"),
        (("gate", "", "b"), "argument 2: empty"),
        (("sql", ""), "argument 2: empty"),
        (("--home", "~nobody-7c1f/x", "runs", "list"), "--home: no user `nobody-7c1f` here"),
        (("--project-dir", "~nobody-7c1f/x", "doctor"), "--project-dir: no user"),
        (("runs", "show", "\udcff"), "argument 3: not UTF-8"),
        (("sql", "select '\udcff'"), "argument 2: not UTF-8"),
        (("compare", "a", "b", "--metric", "\ud800"), "--metric: not UTF-8"),
    ],
)
def test_a_flag_that_says_nothing_usable_is_named(
    toy: Project, arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("EVALAKE_PROJECT_DIR", str(toy.data_dir))
    code = run_cli(list(arguments))
    shown = capsys.readouterr()
    assert (code, shown.out) == (2, "")
    assert shown.err.startswith("error: ")
    assert told in shown.err
    assert "Traceback" not in shown.err
    assert not (toy.home / "lake" / "runs" / "dataset=toy").exists()


def test_a_limit_beside_a_sweep_file_is_checked_too(
    toy: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text("name: s\ndatasets: [{dataset: toy}]\narms: [{system: random}]\n")
    assert run_cli(["plan", str(sweep), "--timeout", "100000"]) == 2
    assert "--timeout: Input should be less than or equal" in capsys.readouterr().err


def test_a_wording_that_no_task_has_is_refused_before_anything_runs(
    toy: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text(
        "name: s\ndatasets: [{dataset: toy}]\narms: [{system: random, query_variant: nope}]\n"
    )
    assert run_cli(["run", str(sweep)]) == 2
    told = capsys.readouterr().err
    assert (
        "random: query_variant: no task of toy has the wording `nope`; there are: default" in told
    )
    assert not (toy.home / "lake" / "runs" / "dataset=toy").exists()


def test_bytes_that_are_no_utf8_on_stdin_are_refused(toy: Project) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "sql", "-"],
        input=b"select '\xff'", env=environment(toy), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert b"error: stdin: not UTF-8" in done.stderr


def test_a_reader_that_stops_early_is_no_error(toy: Project) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "runs", "--help"],
        env=environment(toy), stdout=write, stderr=subprocess.PIPE, check=False,
    )  # fmt: skip
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_module_that_ends_the_program_is_no_closed_output(toy: Project, tmp_path: Path) -> None:
    (tmp_path / "ending.py").write_text("import sys\nsys.exit(0)\n")
    ended = evalake(toy, "run", "--system", "python:ending", "--dataset", "toy")
    assert ended.code in {2, 3}
    assert "error: " in ended.err
    assert "Traceback" not in ended.err
