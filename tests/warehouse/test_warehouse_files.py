"""A warehouse that is held or damaged: readers say so, and read what can be read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from evalake_cli.main import run_cli
from evalake_warehouse.project import Project
from evalake_warehouse.questions.warehouse_files import candidates, current_file, point_to

HOLD = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); input()"
DAMAGES = {
    "empty": lambda _: b"",
    "cut": lambda whole: whole[:5000],
    "half": lambda whole: whole[: len(whole) // 2],
    "junk": lambda _: b"\x00\xff junk" * 5000,
    "text": lambda _: b"hello\n",
    "header flipped": lambda whole: whole[:4179] + b"?" + whole[4180:],
}


def build_file(home: Path, name: str, run_id: str) -> Path:
    """A warehouse with one run, which nothing waits for."""
    file = home / f"warehouse-{name}.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"create table dim_runs as select '{run_id}' as run_id")
        connection.execute("create table int_build_state (run_id varchar, files_hash varchar)")
        connection.execute("create table meta_build (scenario varchar, built_at timestamp)")
        connection.execute("create table bulk as select hash(range) as a from range(100000)")
    return file


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The build `b` is current; `a` is the one before it."""
    home = tmp_path / "home"
    home.mkdir()
    build_file(home, "a", "old")
    point_to(home / "warehouse.duckdb", build_file(home, "b", "new"))
    return home


def ask(capsys: pytest.CaptureFixture[str], sql: str) -> tuple[int, str, str]:
    code = run_cli(["sql", "--csv", sql])
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    return code, shown.out, shown.err


def test_a_held_warehouse_is_read_from_a_copy(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home / "warehouse.duckdb")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        code, out, err = ask(capsys, "select run_id from dim_runs")
        holder.communicate(b"\n")
    assert (code, out) == (0, "run_id\nnew\n")
    assert f"(pid {holder.pid}), so a copy of it is read" in err


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_build_before_a_damaged_one_is_read(
    home: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    file = home / "warehouse-b.duckdb"
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    code, out, err = ask(capsys, "select run_id from dim_runs")
    assert (code, out) == (0, "run_id\nold\n")
    assert f"{file}: damaged, or no DuckDB file" in err
    assert "read in its place: warehouse-a.duckdb" in err
    assert "evalake build" in err


def test_without_a_build_that_can_be_read_the_command_is_told(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in home.glob("warehouse-*.duckdb"):
        file.write_bytes(b"junk")
    code, out, err = ask(capsys, "select run_id from dim_runs")
    assert (code, out) == (2, "")
    assert "warehouse-a.duckdb: damaged" in err
    assert "warehouse-b.duckdb: damaged" in err
    assert err.endswith("hint: evalake build\n")


def test_damage_that_a_query_meets_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / "warehouse-b.duckdb"
    whole = bytearray(file.read_bytes())
    for place in range(len(whole) // 4, len(whole), 4096):
        whole[place] ^= 1
    file.write_bytes(whole)
    code, out, err = ask(capsys, "select bit_xor(a) as a from bulk")
    assert (code, out) == (2, "")
    assert "the warehouse is damaged: " in err
    assert err.endswith("hint: evalake build\n")


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"evalake-pointer \xff\x00", b"evalake-pointer ", b""]
)
def test_a_stable_name_that_stands_for_nothing_gives_way_to_the_last_build(
    home: Path, content: bytes
) -> None:
    link = home / "warehouse.duckdb"
    link.unlink()
    link.write_bytes(content)
    project = Project(home=home, data_dir=home)
    assert current_file(link) in {None, link}
    assert [file.name for file in candidates(project)][-2:] == [
        "warehouse-b.duckdb",
        "warehouse-a.duckdb",
    ]


def test_a_loop_of_links_is_no_warehouse(home: Path) -> None:
    link = home / "warehouse.duckdb"
    link.unlink()
    link.symlink_to("warehouse.duckdb")
    assert current_file(link) is None
