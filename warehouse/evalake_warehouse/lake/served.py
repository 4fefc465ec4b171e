"""The lake as a filesystem that can only be read: `lake://<table>/...` in SQL.

DuckDB's own allow-list of folders allows writing in them as well. This filesystem knows the good
files of one listing, opens them for reading, and has no other operation, so that a query can
neither change evidence nor see a file beside it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pyarrow.parquet as pq
from fsspec import AbstractFileSystem

from evalake_warehouse.lake.reader import LakeFile, LakeListing, quoted
from evalake_warehouse.lake.schemas import TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PROTOCOL = "lake"
ROOT = f"{PROTOCOL}://"


class ServedLake(AbstractFileSystem):  # type: ignore[misc]
    """Good lake files by `lake://<table>/<path in the table's folder>`."""

    protocol = PROTOCOL
    cachable = False

    def __init__(self, lake: Path, listing: LakeListing) -> None:
        super().__init__()
        self._files = {
            f"{ROOT}{file.path.relative_to(lake).as_posix()}": file for file in listing.files
        }
        # Of no row: it gives a table the columns that its files lack, and an empty one all.
        self._pinned = {f"{ROOT}{name}/_schema": _empty_file(name) for name in TABLES}
        self._tables: dict[str, list[str]] = {name: [f"{ROOT}{name}/_schema"] for name in TABLES}
        for served in self._files:
            self._tables[served.removeprefix(ROOT).split("/", 1)[0]].append(served)
        self._is_pinned_only = False

    @contextmanager
    def schemas_only(self) -> Iterator[None]:
        """Tables of no row, for as long as views are made: no file is opened for its columns."""
        self._is_pinned_only = True
        try:
            yield
        finally:
            self._is_pinned_only = False

    def open(self, path: str, mode: str = "rb", **_: Any) -> IO[bytes]:
        """A file to read.

        Raises:
            PermissionError: for any other mode.
            FileNotFoundError: a file that is not served.
        """
        if mode != "rb":
            raise PermissionError(f"{path}: the lake is read-only here")
        if path in self._pinned:
            return io.BytesIO(self._pinned[path])
        return self._file(path).path.open("rb")

    def glob(self, path: str, **_: Any) -> list[str]:
        """All files of `lake://<table>/*`, or the one that is named."""
        table = path.removeprefix(ROOT).removesuffix("/*")
        if path == _pattern(table) and table in self._tables:
            served = self._tables[table]
            return served[:1] if self._is_pinned_only else list(served)
        return [path] if self.exists(path) else []

    def exists(self, path: str, **_: Any) -> bool:
        """Whether a file is served."""
        return path in self._files or path in self._pinned

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Name, size and kind of a file."""
        size = len(self._pinned[path]) if path in self._pinned else self._file(path).size
        return {"name": path, "size": size, "type": "file"}

    def modified(self, _path: str) -> datetime:
        """One time for all: lake files never change."""
        return datetime.fromtimestamp(0, UTC)

    def _file(self, path: str) -> LakeFile:
        if path not in self._files:
            raise FileNotFoundError(f"{path}: no such file in the lake")
        return self._files[path]


def serve_lake(connection: DuckDBPyConnection, lake: Path, listing: LakeListing) -> str:
    """Add an in-memory catalog `lake` with one view per lake table over its good files.

    Returns:
        The root that all its files are under.
    """
    served = ServedLake(lake, listing)
    connection.register_filesystem(served)
    connection.execute("attach ':memory:' as lake")
    with served.schemas_only():
        for name in TABLES:
            connection.execute(
                f"create view lake.main.{quoted(name)} as select * from read_parquet("
                f"'{_pattern(name)}', union_by_name = true, hive_partitioning = false)"
            )
    return ROOT


def _pattern(table: str) -> str:
    return f"{ROOT}{table}/*"


def _empty_file(table: str) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(TABLES[table].schema.empty_table(), buffer)
    return buffer.getvalue()
