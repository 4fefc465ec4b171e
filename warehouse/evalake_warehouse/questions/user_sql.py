"""Questions of a user: one statement that only asks, answered within limits."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import duckdb

from evalake_warehouse.errors import IncompleteError, UsageError
from evalake_warehouse.questions.open_warehouse import LIST_TABLES, distinct_names, explained

MAX_ROWS = 1_000_000
_ROWS_AT_A_TIME = 10_000
# Names the lake, or asks which tables there are.
_NEEDS_LAKE = re.compile(
    r"lake|show|describe|duckdb_|information_schema|pg_|sqlite_|pragma", re.IGNORECASE
)
_MAX_EXPLAIN_TOKENS = 20  # `explain (analyze, format json)` and the like


@dataclass(frozen=True, slots=True)
class Answer:
    """Columns, which are told of an empty answer too, and rows."""

    columns: tuple[str, ...]
    values: list[tuple[Any, ...]]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows as dictionaries, columns in order."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.values]


def check_question(sql: str) -> None:
    """Refuse SQL that is not one question.

    This is told before anything is opened; that a query changes nothing does not depend on it.

    Raises:
        UsageError: no statement, several, one that DuckDB cannot parse, or one that is no query.
    """
    statements = _parsed(sql)
    if not statements:
        raise UsageError("no SQL given", hint=LIST_TABLES)
    for statement in statements:
        kind = statement.type
        if kind == duckdb.StatementType.EXPLAIN:
            kind = _explained_type(statement.query)
        if kind != duckdb.StatementType.SELECT:
            raise UsageError(_refusal(sql, kind), hint='evalake sql "select ..." --csv > file.csv')
    if len(statements) > 1:
        what = f"{len(statements)} statements given; only one is answered at a time"
        raise UsageError(what, hint='evalake sql "with a as (select ...) select * from a"')


def needs_lake(sql: str) -> bool:
    """Whether a question may read the lake, as far as its text tells."""
    return _NEEDS_LAKE.search(sql) is not None


def ask(connection: duckdb.DuckDBPyConnection, sql: str, *, timeout_s: float) -> Answer:
    """Answer one question.

    Args:
        timeout_s: after which it is given up.

    Raises:
        UsageError: SQL that is no question or that DuckDB refuses, or more rows than `MAX_ROWS`.
        IncompleteError: no answer within `timeout_s`.
    """
    check_question(sql)
    values: list[tuple[Any, ...]] = []
    with _interrupted_after(connection, timeout_s):
        try:
            result = connection.execute(sql)
            columns = distinct_names([column[0] for column in result.description or []])
            while fetched := result.fetchmany(_ROWS_AT_A_TIME):
                values += fetched
                if len(values) > MAX_ROWS:
                    raise UsageError(
                        f"more than {MAX_ROWS:,} rows; aggregate them, or add a limit",
                        hint=f'evalake sql "select ... limit {MAX_ROWS}"',
                    )
        except duckdb.InterruptException as error:
            raise IncompleteError(
                f"no answer within {timeout_s:g} s",
                where="--timeout",
                hint=f"evalake sql --timeout {timeout_s * 10:g} ...",
            ) from error
        except duckdb.Error as error:
            raise explained(error) from error
    return Answer(tuple(columns), values)


def _parsed(sql: str) -> list[duckdb.Statement]:
    try:
        return duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise UsageError(str(error), hint=LIST_TABLES) from error


def _explained_type(sql: str) -> duckdb.StatementType:
    """The type of the statement that an `explain` is of; EXPLAIN where it cannot be told.

    DuckDB does not tell it: it is the first tail of the text that is a statement of its own.
    """
    starts = [start for start, _ in duckdb.tokenize(sql)]
    for start in starts[1:_MAX_EXPLAIN_TOKENS]:
        with suppress(duckdb.Error):
            inner = duckdb.extract_statements(sql[start:])
            if len(inner) == 1:
                return inner[0].type
    return duckdb.StatementType.EXPLAIN


def _refusal(sql: str, kind: duckdb.StatementType) -> str:
    if re.search(r"\bpivot\b", sql, re.IGNORECASE):
        return (
            "pivot needs its values here: `pivot ... on metric in ('recall@5', 'mrr@10') using ...`"
        )
    return f"{kind.name.lower()} is not allowed here: this is read-only"


@contextmanager
def _interrupted_after(connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
