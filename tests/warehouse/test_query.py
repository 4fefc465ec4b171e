"""Questions only: nothing that `evalake sql` is given may change a file."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from lake_factory import write_dataset

from evalake_cli.output import print_rows
from evalake_warehouse.errors import UsageError
from evalake_warehouse.lake.reader import list_lake
from evalake_warehouse.questions.open_warehouse import rows
from evalake_warehouse.questions.user_sql import check_question


@pytest.mark.parametrize(
    "sql", ["select 1", "with a as (select 1) select * from a", "show all tables", "describe t",
            "explain select 1", "from t", "select 1; ",
            "explain analyze with a as (select 1) select * from a", "explain (format json) from t",
            "pivot t on a in ('x') using sum(b)", "pragma version", "summarize t"],
)  # fmt: skip
def test_a_question_is_let_through(sql: str) -> None:
    check_question(sql)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("copy (select 1) to 'lake/hits/x.parquet'", "copy is not allowed"),
        ("attach 'other.db'", "attach is not allowed"),
        ("select 1; drop table t", "drop is not allowed"),
        ("select 1; select 2", "2 statements given; only one is answered"),
        ("explain analyze copy t to 'x'", "copy is not allowed"),
        ("pivot t on a using sum(b)", "pivot needs its values here"),
        ("export database 'folder'", "is not allowed"),
        ("install httpfs", "is not allowed"),
        ("", "no SQL given"),
        (" ; ", "no SQL given"),
        ("selec 1", "syntax error"),
    ],
)
def test_anything_else_is_refused(sql: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_question(sql)


@pytest.mark.parametrize(
    ("table", "told", "hint"),
    [
        ("dim_runs", "built before there was `dim_runs`", "evalake build"),
        ("dim_rnus", "dim_rnus does not exist", 'evalake sql "show all tables"'),
    ],
)
def test_a_table_that_an_older_build_lacks_is_told_from_a_misspelt_one(
    table: str, told: str, hint: str
) -> None:
    with duckdb.connect() as empty, pytest.raises(UsageError, match=told) as error:
        rows(empty, f"select * from {table}")
    assert error.value.hint == hint


def test_columns_of_one_name_are_all_kept() -> None:
    with duckdb.connect() as empty:
        kept = rows(empty, "select 1 as mean, 2 as mean, 3 as n, 4 as mean_2, 5 as mean")
    assert kept == [{"mean": 1, "mean_2": 2, "n": 3, "mean_2_2": 4, "mean_3": 5}]


def test_a_table_shows_cells_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([{"text": ":x: [red]no[/red]", "escape": "\x1b[31m", "n": -0.0125}])
    shown = capsys.readouterr().out
    assert ":x: [red]no[/red]" in shown
    assert "\\x1b[31m" in shown
    assert "\x1b" not in shown
    assert "-0.013" in shown or "-0.012" in shown


def test_a_home_that_cannot_be_written_can_still_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_dataset(tmp_path, {"t": {"a": 1}})

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "write_text", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    assert len(list_lake(tmp_path).files) == 5
