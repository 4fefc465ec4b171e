"""The warehouse as commands open it: what it lacks is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evalake_cli.app import current_project
from evalake_cli.output import say

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from evalake_warehouse.errors import Problem
    from evalake_warehouse.lake.reader import LakeListing

_MAX_SHOWN = 20


@contextmanager
def open_judged(
    scenario: str | None = None, *, listing: LakeListing | None = None, with_lake: bool = True
) -> Iterator[DuckDBPyConnection]:
    """The project's warehouse, or one of its scenarios.

    Lake files that had to be left out are named, and runs that wait for a build.
    """
    from evalake_warehouse.lake.reader import list_lake
    from evalake_warehouse.questions.open_warehouse import open_warehouse
    from evalake_warehouse.questions.pending import find_pending, mark_behind

    project = current_project()
    listed = listing or list_lake(project.home)
    with open_warehouse(
        project, scenario=scenario, listing=listed, with_lake=with_lake
    ) as connection:
        _tell_left_out(listed.problems)
        if pending := find_pending(connection, listed):
            say(f"warning: {pending}")
            mark_behind(connection, pending.behind)
        yield connection


def _tell_left_out(problems: Sequence[Problem]) -> None:
    for problem in problems[:_MAX_SHOWN]:
        say(f"warning: {problem}")
    if (more := len(problems) - _MAX_SHOWN) > 0:
        say(f"warning: {more} more lake files are left out: evalake doctor")
