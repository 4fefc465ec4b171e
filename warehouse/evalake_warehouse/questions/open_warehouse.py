"""Read-only access to the warehouse, with the raw lake beside it as `lake.<table>`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, count
from typing import Any

import duckdb

from evalake_warehouse.errors import EvalakeError, UsageError
from evalake_warehouse.lake.reader import LakeListing, list_lake
from evalake_warehouse.project import Project, find_project_dir
from evalake_warehouse.questions.box import empty_box, seal
from evalake_warehouse.questions.warehouse_files import attach_current

LIST_TABLES = 'evalake sql "show all tables"'
_DAMAGED = re.compile("Corrupt database file|Could not read enough bytes")
_NOT_HERE = "a query reaches the marts and the lake, and nothing else"


def open_warehouse(
    project: Project,
    *,
    scenario: str | None = None,
    listing: LakeListing | None = None,
    with_lake: bool = True,
) -> duckdb.DuckDBPyConnection:
    """A read-only connection: marts by name, raw evidence as `lake.hits` and so on.

    It neither blocks a build nor is blocked by one: it keeps the file that was current. It reaches
    nothing else of the machine, and its settings are locked.

    Args:
        with_lake: make the lake's views too, for queries that name it.

    Raises:
        UsageError: nothing was built yet, no build can be read, or the scenario does not exist.
    """
    connection = empty_box()
    try:
        # One alias for every build and scenario, so that no query depends on a file name.
        attach_current(connection, project, scenario)
        served = None
        if with_lake:
            # Its import costs a tenth of a second.
            from evalake_warehouse.lake.served import serve_lake

            served = serve_lake(connection, project.lake, listing or list_lake(project.home))
        connection.execute("use warehouse")
        seal(connection, served=served)
    except BaseException:
        connection.close()
        raise
    return connection


def rows(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    parameters: list[Any] | dict[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Run a query and return its rows as dictionaries, columns in order.

    A second column `mean` is called `mean_2`, so that none is lost.

    Raises:
        UsageError: SQL that DuckDB refuses, with its own message.
    """
    try:
        result = connection.execute(sql, parameters)
        names = distinct_names([column[0] for column in result.description or []])
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    except duckdb.Error as error:
        raise explained(error) from error


def distinct_names(names: Sequence[str]) -> list[str]:
    """Column names, the second `mean` as `mean_2`."""
    taken: list[str] = []
    for name in names:
        numbered = (f"{name}_{number}" for number in count(2))
        taken.append(next(free for free in chain([name], numbered) if free not in taken))
    return taken


def explained(error: duckdb.Error) -> EvalakeError:
    """The evalake error that stands for an error of DuckDB, with a hint."""
    told = str(error)
    if _DAMAGED.search(told):
        what = f"the warehouse is damaged: {told.splitlines()[0]}"
        return UsageError(what, hint="evalake build")
    if isinstance(error, duckdb.PermissionException):
        return UsageError(f"{_NOT_HERE}: {told.splitlines()[0]}", hint=LIST_TABLES)
    if isinstance(error, duckdb.OutOfMemoryException):
        return UsageError(f"too much for this machine: {told.splitlines()[0]}")
    if isinstance(error, duckdb.CatalogException):
        return _no_such_table(error)
    return UsageError(told, hint=LIST_TABLES)


def _no_such_table(error: duckdb.CatalogException) -> UsageError:
    """What to do about a missing table: one that this version makes is an older build's lack."""
    named = re.search(r"Table with name (\w+) does not exist", str(error))
    if named is not None and any((find_project_dir() / "models").rglob(f"{named[1]}.*")):
        what = f"the warehouse was built before there was `{named[1]}`"
        return UsageError(what, hint="evalake build")
    return UsageError(str(error), hint=LIST_TABLES)
