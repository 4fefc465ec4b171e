"""Files that are no evidence: each is named with its reason, and the rest of the lake is read."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lake_factory import RunWriter, docs, write_dataset

from evalake_cli.main import run_cli
from evalake_warehouse.lake.reader import list_lake


def rewrite(path: Path, data: pa.Table) -> None:
    path.unlink()
    pq.write_table(data, path)


def without(column: str) -> Callable[[Path], None]:
    return lambda path: rewrite(path, pq.ParquetFile(path).read().drop_columns([column]))


def with_null(column: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        data = pq.ParquetFile(path).read()
        place = data.schema.get_field_index(column)
        empty = pa.nulls(len(data), data.schema.field(column).type)
        rewrite(path, data.set_column(place, pa.field(column, empty.type), empty))

    return damage


def with_version(version: bytes) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        data = pq.ParquetFile(path).read()
        rewrite(path, data.replace_schema_metadata({b"evalake.version": version}))

    return damage


def twice(column: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        data = pq.ParquetFile(path).read()
        rewrite(path, data.append_column(data.schema.field(column), data.column(column)))

    return damage


def replaced_by(content: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(content) and None


def linked_to(name: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.unlink()
        path.symlink_to(name)

    return damage


def made_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


BAD = {
    "empty": (replaced_by(b""), "torn or not Parquet"),
    "junk": (replaced_by(b"PAR1" + b"\xff" * 100 + b"PAR1"), "torn or not Parquet"),
    "a loop": (linked_to("loop.parquet"), "cannot be read"),
    "a link to nothing": (linked_to("gone.parquet"), "cannot be read"),
    "a folder": (made_a_folder, "no file"),
    "no rank": (without("rank"), "lacks columns that table hits requires, skipped: rank"),
    "no run": (without("run_id"), "lacks columns that table hits requires, skipped: run_id"),
    "NULL rank": (with_null("rank"), "NULL in columns that allow none, skipped: rank"),
    "NULL run": (with_null("run_id"), "NULL in columns that allow none, skipped: run_id"),
    "version abc": (with_version(b"abc"), "its schema version is 'abc', no number"),
    "no version": (with_version(b""), "its schema version is '', no number"),
    "version 0": (with_version(b"0"), "its schema version is '0', no number"),
    "long version": (with_version(b"9" * 5000), "is newer than this evalake reads"),
    "two ranks": (twice("rank"), "two columns of one name"),
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A lake of two runs with one hit each, and a warehouse that nothing waits for."""
    home = tmp_path / "home"
    home.mkdir()
    edition = write_dataset(home, {"t": {"a": 1}})
    for name in ("first", "second"):
        RunWriter(home, edition, run_id=f"{name:0<36}").attempts({"t": docs(name)})
    with duckdb.connect(str(home / "warehouse.duckdb")) as connection:
        connection.execute("create table int_build_state (run_id varchar, files_hash varchar)")
        connection.execute("create table meta_build (scenario varchar, built_at timestamp)")
    return home


def hits_of(home: Path, run: str) -> Path:
    return next((home / "lake" / "hits").rglob(f"{run}0*.parquet"))


@pytest.mark.parametrize("bad", BAD)
def test_a_file_that_is_no_evidence_is_named_and_the_rest_is_read(home: Path, bad: str) -> None:
    file = hits_of(home, "second")
    target = file.with_name("loop.parquet") if bad == "a loop" else file
    damage, told = BAD[bad]
    if target != file:
        file.rename(target)
    damage(target)
    listing = list_lake(home)
    assert [problem.where for problem in listing.problems] == [str(target)]
    assert told in listing.problems[0].what
    assert [file.owner[:5] for file in listing.by_table["hits"]] == ["first"]


def test_sql_names_the_file_prints_the_rest_and_exits_3(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = hits_of(home, "second")
    file.write_bytes(file.read_bytes()[:50])
    code = run_cli(["sql", "--csv", "select doc_id from lake.hits"])
    shown = capsys.readouterr()
    assert (code, shown.out) == (3, "doc_id\nfirst\n")
    assert f"warning: {file}: torn or not Parquet" in shown.err


def test_many_bad_files_are_counted(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = hits_of(home, "second")
    for number in range(25):
        file.with_name(f"bad-{number:02}.parquet").write_bytes(b"")
    assert run_cli(["sql", "select 1"]) == 3
    told = capsys.readouterr().err
    assert told.count("torn or not Parquet") == 20
    assert "warning: 5 more lake files are left out: evalake doctor" in told


def test_a_page_that_is_damaged_is_told_with_its_file(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = hits_of(home, "second")
    whole = bytearray(file.read_bytes())
    whole[4:40] = b"\xff" * 36
    file.write_bytes(whole)
    code = run_cli(["sql", "select * from lake.hits"])
    told = capsys.readouterr().err
    assert code == 2
    assert "Traceback" not in told
    assert f"error: {file}: damaged: " in told


@pytest.mark.parametrize(
    "content",
    [b"", b"[1,2]", b"null", b'"x"', b'{"a": 1}', b'{"a": [1.5]}', b'{"a": [true]}', b"\xff\xfe",
     b"[" * 100_000, b'{"a": {"b": []}}', b"{", b"9" * 10_000],
)  # fmt: skip
def test_a_note_of_checked_files_may_hold_anything(home: Path, content: bytes) -> None:
    good = len(list_lake(home).files)
    (home / "lake-checked.json").write_bytes(content)
    listing = list_lake(home)
    assert (len(listing.files), listing.problems) == (good, ())
    assert len(json.loads((home / "lake-checked.json").read_bytes())) == good


def test_flipped_bits_never_stop_the_listing(home: Path) -> None:
    file = hits_of(home, "second")
    whole = file.read_bytes()
    draw = random.Random(7)
    for _ in range(300):
        flipped = bytearray(whole)
        for _ in range(draw.randrange(1, 4)):
            flipped[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
        file.write_bytes(flipped)
        (home / "lake-checked.json").unlink(missing_ok=True)
        listing = list_lake(home)
        assert len(listing.by_table["hits"]) + len(listing.problems) == 2
