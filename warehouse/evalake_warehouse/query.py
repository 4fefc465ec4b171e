"""Read-only access to the warehouse, with the raw lake beside it as `lake.<table>`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

import duckdb

from evalake_warehouse.errors import UsageError
from evalake_warehouse.lake.reader import LakeListing, list_lake, quoted, relation_sql, sql_literal
from evalake_warehouse.lake.schemas import TABLES
from evalake_warehouse.project import Project, find_project_dir

_LIST_TABLES = 'evalake sql "show all tables"'
_POINTER = b"evalake-pointer "
_QUESTIONS = {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}
_SCENARIO_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def warehouse_link(project: Project, scenario: str | None = None) -> Path:
    """Stable name of a warehouse: the default one, or that of a what-if scenario.

    Raises:
        UsageError: a scenario name that is no plain file name.
    """
    if scenario is None:
        return project.warehouse
    if not _SCENARIO_NAME.fullmatch(scenario):
        raise UsageError(
            f"{scenario!r} is no scenario name; use letters, digits, '_', '-' and '.'",
            where="--scenario",
        )
    return project.home / "scenarios" / f"{scenario}.duckdb"


def current_file(link: Path) -> Path | None:
    """The build that a stable name stands for now; None where nothing was built yet."""
    if link.is_symlink():
        target = link.resolve()
    elif link.is_file():
        head = link.read_bytes()[:200] if link.stat().st_size < 200 else b""
        is_pointer = head.startswith(_POINTER)
        target = link.parent / head.removeprefix(_POINTER).decode().strip() if is_pointer else link
    else:
        return None
    return target if target.is_file() else None


def point_to(link: Path, target: Path) -> None:
    """Make a stable name stand for `target`, atomically; by a pointer file where links fail."""
    temporary = link.with_name(f"{link.name}.{target.stem}.tmp")
    temporary.unlink(missing_ok=True)
    try:
        temporary.symlink_to(target.name)
    except OSError:
        temporary.write_bytes(_POINTER + target.name.encode() + b"\n")
    temporary.replace(link)


def open_warehouse(
    project: Project, *, scenario: str | None = None, listing: LakeListing | None = None
) -> duckdb.DuckDBPyConnection:
    """A read-only connection: marts by name, raw evidence as `lake.hits` and so on.

    It neither blocks a build nor is blocked by one: it keeps the file that was current.

    Raises:
        UsageError: nothing was built yet, or the scenario does not exist.
    """
    file = current_file(warehouse_link(project, scenario))
    if file is None:
        raise _nothing_built(project, scenario)
    connection = duckdb.connect()
    # It would be drawn on stdout, in the middle of the data.
    connection.execute("set enable_progress_bar = false")
    # One alias for every build and scenario, so that no query depends on a file name.
    connection.execute(f"attach {sql_literal(str(file))} as warehouse (read_only)")
    attach_lake(connection, listing or list_lake(project.home))
    connection.execute("use warehouse")
    return connection


def attach_lake(connection: duckdb.DuckDBPyConnection, listing: LakeListing) -> None:
    """Add an in-memory catalog `lake` with one view per lake table over its good files."""
    connection.execute("attach ':memory:' as lake")
    for table in TABLES:
        sql = relation_sql(table, listing.paths(table))
        connection.execute(f"create view lake.main.{quoted(table)} as {sql}")


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
        names = _distinct([column[0] for column in result.description or []])
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    except duckdb.CatalogException as error:
        raise _no_such_table(error) from error
    except duckdb.Error as error:
        raise UsageError(str(error), hint=_LIST_TABLES) from error


def _distinct(names: Sequence[str]) -> list[str]:
    taken: list[str] = []
    for name in names:
        numbered = (f"{name}_{number}" for number in count(2))
        taken.append(next(free for free in chain([name], numbered) if free not in taken))
    return taken


def _no_such_table(error: duckdb.CatalogException) -> UsageError:
    """What to do about a missing table: one that this version makes is an older build's lack."""
    named = re.search(r"Table with name (\w+) does not exist", str(error))
    if named is not None and any((find_project_dir() / "models").rglob(f"{named[1]}.*")):
        what = f"the warehouse was built before there was `{named[1]}`"
        return UsageError(what, hint="evalake build")
    return UsageError(str(error), hint=_LIST_TABLES)


def refuse_changes(sql: str) -> None:
    """Refuse SQL that is not a question: `copy`, `attach` and the like write files.

    Raises:
        UsageError: no statement, one that DuckDB cannot parse, or one that is no query.
    """
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise UsageError(str(error), hint=_LIST_TABLES) from error
    if not statements:
        raise UsageError("no SQL given", hint=_LIST_TABLES)
    for statement in statements:
        if statement.type not in _QUESTIONS:
            raise UsageError(
                f"{statement.type.name.lower()} is not allowed here: this is read-only",
                hint='evalake sql "select ..." --csv > file.csv',
            )


def scenarios(project: Project) -> list[str]:
    """Names of the what-if scenarios built so far."""
    folder = project.home / "scenarios"
    return sorted(link.stem for link in folder.glob("*.duckdb") if "@" not in link.stem)


def _nothing_built(project: Project, scenario: str | None) -> UsageError:
    if scenario is None:
        return UsageError("no warehouse here yet", where=str(project.home), hint="evalake build")
    known = ", ".join(scenarios(project)) or "none"
    return UsageError(
        f"no scenario {scenario!r}; there are: {known}",
        where=str(project.home),
        hint=f"evalake build --var text_threshold=80 --scenario {scenario}",
    )
