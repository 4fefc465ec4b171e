"""The box that every reader works in: a warehouse, a lake, and nothing else of the machine.

What a query can reach is what its connection was given: the warehouse's file, opened read-only, and
the lake through a filesystem that cannot write. DuckDB's own access to files and the network is
off, and stays off, because the configuration is locked.
"""

from __future__ import annotations

import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from evalake_warehouse.lake.reader import sql_literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MAX_THREADS = 8
_MAX_MEMORY_BYTES = 8 * 2**30  # what needs more spills to the temporary folder
_MAX_SPILL = "20GiB"


def empty_box() -> DuckDBPyConnection:
    """A connection that loads no extension and sees no variable of Python."""
    connection = duckdb.connect(
        config={
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "python_enable_replacements": False,
        }
    )
    # It would be drawn on stdout, in the middle of the data.
    connection.execute("set enable_progress_bar = false")
    return connection


def seal(connection: DuckDBPyConnection, *, served: str | None = None) -> None:
    """Close the box for good: what was attached stays, and nothing can be added.

    Args:
        served: root of a registered filesystem that stays open.
    """
    # DuckDB makes the folder when it first spills, and removes it.
    spill = Path(tempfile.gettempdir()) / f"evalake-spill-{uuid.uuid4().hex}"
    allowed = connection.execute(
        f"select least(current_setting('threads'), {_MAX_THREADS}), least("
        f"parse_formatted_bytes(current_setting('memory_limit')), {_MAX_MEMORY_BYTES})"
    ).fetchone()
    threads, memory = allowed or (1, _MAX_MEMORY_BYTES)
    for setting in (
        f"threads = {threads}",
        f"memory_limit = '{memory}B'",
        f"temp_directory = {sql_literal(str(spill))}",
        f"max_temp_directory_size = '{_MAX_SPILL}'",
        f"allowed_directories = [{sql_literal(served) if served else ''}]",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"set {setting}")
