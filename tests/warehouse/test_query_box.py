"""The box of every reader: it reads the marts and the lake, changes nothing, sees nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest
from lake_factory import RunWriter, docs, write_dataset

from evalake_cli.main import run_cli
from evalake_warehouse.errors import IncompleteError, UsageError
from evalake_warehouse.project import Project
from evalake_warehouse.questions.open_warehouse import open_warehouse, rows
from evalake_warehouse.questions.user_sql import ask

CANARY = "canary-7c1f"

# {lake}: a folder of good lake files, {file}: one of them, {served}: as queries name it, {outside}:
# a file with the canary, {db}: a DuckDB file with it, {folder}: of both, {home}: EVALAKE_HOME.
ESCAPES = (
    # Writing evidence, under one statement or another.
    "copy (select 1) to '{file}'",
    "copy (select 1 as a) to '{lake}/new.parquet' (format parquet)",
    "copy lake.hits to '{lake}/new.parquet'",
    "explain analyze copy (select 1 as a) to '{file}'",
    "explain analyze copy (select 1 as a) to '{lake}/new.parquet' (format parquet)",
    "explain /* c */ analyze -- d\n copy (select 1 as a) to '{file}'",
    "explain (analyze, format json) copy (select 1) to '{file}'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{file}' (FORMAT csv)",
    "explain analyze create table made as select 1",
    "explain analyze insert into dim_runs select * from dim_runs",
    "explain analyze delete from dim_runs",
    "explain analyze update dim_runs set run_id = 'x'",
    "select 1; copy (select 1) to '{file}'",
    "copy (select 1) to 'lake://hits/new.parquet'",
    "explain analyze copy (select 1) to 'lake://hits/_schema'",
    "explain analyze copy (select 1 as a) to '{served}' (format csv, use_tmp_file false)",
    "copy (select 1 as a) to '{served}' (format parquet, use_tmp_file false)",
    "export database '{lake}/all'",
    "export database 'lake://hits'",
    "import database '{lake}'",
    # Writing the warehouse, or a table beside it.
    "create table made as select 1",
    "create table lake.main.made as select 1",
    "create temp table made as select 1",
    "create or replace view lake.main.hits as select 1",
    "create macro made() as 1",
    "create macro made() as table select * from read_text('{outside}')",
    "create type made as enum ('a')",
    "create schema made",
    "create sequence made",
    "create secret made (type http)",
    "create persistent secret made (type http)",
    "insert into dim_runs select * from dim_runs",
    "update dim_runs set run_id = 'x'",
    "delete from dim_runs",
    "truncate dim_runs",
    "drop table dim_runs",
    "drop view lake.main.hits",
    "alter table dim_runs add column a int",
    "comment on table dim_runs is 'x'",
    "vacuum",
    "checkpoint",
    "force checkpoint",
    "select * from force_checkpoint('warehouse')",
    "begin transaction",
    # Other databases.
    "attach '{db}' as other",
    "attach '{db}' as other (read_only)",
    "attach '{folder}/new.duckdb' as other",
    "attach 'lake://hits/_schema' as other",
    "detach warehouse",
    "use memory",
    "select * from '{db}'",
    "select * from read_duckdb('{db}')",
    "copy from database warehouse to memory",
    # Reading other files.
    "select * from '{outside}'",
    "select * from read_csv('{outside}')",
    "select * from read_csv_auto('{outside}', header = false)",
    "select * from sniff_csv('{outside}')",
    "select * from read_text('{outside}')",
    "select * from read_blob('{outside}')",
    "select * from read_json('{outside}')",
    "select * from read_json_objects_auto('{outside}')",
    "select * from read_ndjson_objects('{outside}')",
    "select * from read_parquet('{folder}/outside.parquet')",
    "select * from parquet_metadata('{folder}/outside.parquet')",
    "select * from parquet_schema('{folder}/outside.parquet')",
    "select * from parquet_kv_metadata('{folder}/outside.parquet')",
    "select * from parquet_file_metadata('{folder}/outside.parquet')",
    "select * from parquet_bloom_probe('{folder}/outside.parquet', 'a', 1)",
    "select * from glob('{folder}/*')",
    "select * from glob('/root/*')",
    "select * from glob('{home}/*')",
    "select * from read_text('/etc/passwd')",
    "select * from read_text('/proc/self/environ')",
    "select * from read_text('{lake}/../../../../../outside.csv')",
    "select * from read_text('lake://../../outside.csv')",
    "select * from read_text('file://{outside}')",
    "select * from read_text(['lake://hits/_schema', '{outside}'])",
    "select * from query('select * from read_text(''{outside}'')')",
    "select * from query('copy (select 1) to ''{file}''')",
    "select * from query_table('{outside}')",
    "select (select content from read_text('{outside}'))",
    "with a as (select * from read_text('{outside}')) select * from a",
    "select * from dim_runs, lateral (select * from read_text('{outside}'))",
    "explain analyze select * from read_text('{outside}')",
    "describe select * from read_csv('{outside}')",
    "summarize select * from read_csv('{outside}')",
    "select * from json_execute_serialized_sql(json_serialize_sql("
    "'select * from read_text(''{outside}'')'))",
    # The network.
    "select * from 'http://127.0.0.1:9/x.parquet'",
    "select * from read_csv('https://127.0.0.1:9/x.csv')",
    "select * from read_parquet('s3://bucket/x.parquet')",
    "select * from read_parquet('hf://datasets/a/b.parquet')",
    # Extensions, settings, the environment.
    "install httpfs",
    "install httpfs from community",
    "force install httpfs",
    "load httpfs",
    "load '{folder}/x.duckdb_extension'",
    "update extensions",
    "select getenv('CANARY')",
    "select * from duckdb_secrets()",
    "select * from which_secret('s3://a', 's3')",
    "set enable_external_access = true",
    "set lock_configuration = false",
    "set allowed_directories = ['/']",
    "set temp_directory = '{lake}'",
    "set global memory_limit = '1TB'",
    "reset memory_limit",
    "pragma enable_profiling = 'json'",
    "pragma profiling_output = '{file}'",
    "pragma memory_limit = '1TB'",
    "call enable_logging(storage = 'file', storage_path = '{lake}')",
    "call pragma_version()",
    "prepare made as select 1",
    "execute made",
    "deallocate made",
    "set variable made = 1",
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lake and a warehouse; the canary is in files, a database and a variable beside them."""
    home = tmp_path / "home"
    home.mkdir()
    run = RunWriter(home, write_dataset(home, {"t": {"a": 1}}))
    run.attempts({"t": docs("a")})
    with duckdb.connect(str(home / "warehouse.duckdb")) as connection:
        connection.execute("create table dim_runs as select 'r1' as run_id")
        connection.execute("create table int_build_state (run_id varchar, files_hash varchar)")
        connection.execute("create table meta_build (scenario varchar, built_at timestamp)")
    (tmp_path / "outside.csv").write_text(f"a,b\n{CANARY},1\n")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as connection:
        connection.execute(f"create table canary as select '{CANARY}' as a")
        connection.execute(f"copy canary to '{tmp_path}/outside.parquet'")
    monkeypatch.setenv("CANARY", CANARY)
    monkeypatch.chdir(tmp_path)
    return home


def filled(escape: str, home: Path) -> str:
    file = next((home / "lake" / "hits").rglob("*-*.parquet"))
    places = {"{file}": file, "{lake}": file.parent, "{outside}": home.parent / "outside.csv",
              "{db}": home.parent / "other.duckdb", "{folder}": home.parent, "{home}": home,
              "{served}": f"lake://{file.relative_to(home / 'lake').as_posix()}"}  # fmt: skip
    for name, path in places.items():
        escape = escape.replace(name, str(path))
    return escape


def state(home: Path) -> dict[str, str]:
    """Hashes of all files in and around the home but the note of what was checked."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in home.parent.rglob("*")
        if path.is_file() and path.name != "lake-checked.json"
    }


@pytest.fixture
def opened(home: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_warehouse(Project(home=home, data_dir=home)) as connection:
        yield connection


@pytest.mark.parametrize("escape", ESCAPES)
def test_a_query_that_would_leave_the_box_is_refused(
    home: Path, escape: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = state(home)
    code = run_cli(["sql", filled(escape, home)])
    shown = capsys.readouterr()
    assert code == 2, shown
    assert shown.err.startswith("error: ")
    assert "Traceback" not in shown.err
    assert CANARY not in shown.out + shown.err
    assert state(home) == before


@pytest.mark.parametrize("escape", ESCAPES)
def test_the_box_holds_without_a_look_at_the_statement(
    home: Path, escape: str, opened: duckdb.DuckDBPyConnection
) -> None:
    before = state(home)
    told = ""
    with suppress(duckdb.Error, RuntimeError):
        told = str(opened.execute(filled(escape, home)).fetchall())
    assert CANARY not in told
    opened.close()
    assert state(home) == before


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select run_id from dim_runs", [{"run_id": "r1"}]),
        ("select doc_id from lake.hits", [{"doc_id": "a"}]),
        ("select count(*) as n from LAKE.main.attempts;", [{"n": 1}]),
        ("select count(*) as n from lake.timings", [{"n": 0}]),
        ("select count(*) as n from query('select * from lake.hits')", [{"n": 1}]),
        ("from (values (1)) as t (a)", [{"a": 1}]),
    ],
)  # fmt: skip
def test_marts_and_lake_can_be_read(
    opened: duckdb.DuckDBPyConnection, sql: str, expected: list[dict[str, object]]
) -> None:
    assert ask(opened, sql, timeout_s=60).rows == expected


def test_tables_of_the_lake_are_listed_with_the_marts(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(["sql", "--csv", "show all tables"]) == 0
    listed = capsys.readouterr().out
    assert "warehouse,main,dim_runs" in listed
    assert "lake,main,hits" in listed


def test_own_temporary_tables_are_made_in_the_box(opened: duckdb.DuckDBPyConnection) -> None:
    opened.execute("create temp table made as select * from lake.hits")
    assert rows(opened, "select count(*) as n from made") == [{"n": 1}]


def test_an_endless_query_is_given_up(opened: duckdb.DuckDBPyConnection) -> None:
    endless = "select count(*) from range(10000000000) a, range(10000000000) b"
    with pytest.raises(IncompleteError, match=r"--timeout: no answer within 0\.2 s"):
        ask(opened, endless, timeout_s=0.2)


def test_more_rows_than_memory_has_room_for_are_refused(
    opened: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalake_warehouse.questions.user_sql.MAX_ROWS", 100_000)
    with pytest.raises(UsageError, match="more than 100,000 rows"):
        ask(opened, "from range(10000000000)", timeout_s=60)
