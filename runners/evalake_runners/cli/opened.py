"""The warehouse as commands open it: what it does not know yet is said."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evalake_runners.cli.app import current_project
from evalake_runners.cli.output import say

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@contextmanager
def open_judged(scenario: str | None = None) -> Iterator[DuckDBPyConnection]:
    """The project's warehouse, or one of its scenarios, with a warning where it is behind."""
    from evalake_warehouse.lake.reader import list_lake
    from evalake_warehouse.pending import find_pending
    from evalake_warehouse.query import open_warehouse

    project = current_project()
    listing = list_lake(project.home)
    with open_warehouse(project, scenario=scenario, listing=listing) as connection:
        if pending := find_pending(connection, listing):
            say(f"warning: {pending}")
        yield connection
