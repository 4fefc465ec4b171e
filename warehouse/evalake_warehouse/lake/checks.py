"""What makes a file evidence: it is whole, has its table's columns, and NULL only where allowed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from evalake_warehouse.lake.schemas import LakeTable

_VERSION = b"evalake.version"


def check_file(table: LakeTable, path: Path) -> str | None:
    """What is wrong with a lake file, or None. Data is read only where NULLs are in doubt."""
    try:
        with pq.ParquetFile(path) as file:
            return _wrong(table, file)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        told = (str(error) or type(error).__name__).splitlines()[0]
        reason = told.split(". ", maxsplit=1)[0].rstrip(".")
        return f"torn or not Parquet, skipped ({reason}); delete it or copy it again"


def _wrong(table: LakeTable, file: pq.ParquetFile) -> str | None:
    schema = file.schema_arrow
    if problem := _wrong_version(table, schema.metadata or {}):
        return problem
    types = {field.name: field.type for field in table.schema}
    if wrong := [
        f"{field.name} {field.type}" for field in schema if types.get(field.name) != field.type
    ]:
        return f"columns that table {table.name} does not declare, skipped: {wrong}"
    if len(set(schema.names)) < len(schema.names):
        return f"two columns of one name, skipped: {', '.join(schema.names)}"
    required = [field.name for field in table.schema if not field.nullable]
    if missing := [name for name in required if name not in schema.names]:
        return f"lacks columns that table {table.name} requires, skipped: {', '.join(missing)}"
    # A file of ours says of such a column that it holds no NULL.
    doubtful = [name for name in required if schema.field(name).nullable]
    if doubtful and (nulls := _with_nulls(file, doubtful)):
        return f"NULL in columns that allow none, skipped: {', '.join(nulls)}"
    return None


def _wrong_version(table: LakeTable, metadata: dict[bytes, bytes]) -> str | None:
    written = metadata.get(_VERSION, b"1")
    if not written.isdigit() or not int(written[:10]):
        told = written[:20].decode(errors="replace")
        return f"its schema version is {told!r}, no number, skipped; delete it or copy it again"
    version = int(written[:10])
    if version > table.version:
        return (
            f"{table.name} schema version {version} is newer than this evalake reads "
            f"({table.version}), skipped; upgrade evalake"
        )
    return None


def _with_nulls(file: pq.ParquetFile, names: list[str]) -> list[str]:
    found = file.read(columns=names)
    return [name for name in names if found.column(name).null_count]
