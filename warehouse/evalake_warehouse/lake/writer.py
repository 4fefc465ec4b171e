"""Write lake files: validated against their schema, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from evalake_warehouse.errors import LakeError
from evalake_warehouse.file_names import is_file_name
from evalake_warehouse.lake.schemas import TABLES, LakeTable
from evalake_warehouse.lake.scrubbing import scrubbed
from evalake_warehouse.scratch import replacing

Row = Mapping[str, Any]

_PINNED = Path("dataset=__schema") / "run_date=1970-01-01" / "_schema.parquet"


def write_rows(
    lake: Path, table_name: str, rows: Iterable[Row], *, dataset: str, run_date: date, stem: str
) -> Path | None:
    """Write rows of one table as one immutable file; no file for no rows.

    Args:
        lake: the lake's root folder.
        stem: file name without its ending: a run id with a part number, an edition, a corpus id.

    Returns:
        The file's path, or None where there was nothing to write.

    Raises:
        LakeError: an unknown column, a NULL, a type or a word that the table's schema does not
            allow, a row of another dataset, or a file of that name that holds other rows already.
    """
    table = TABLES[table_name]
    data = _to_arrow(table, list(rows), dataset)
    return write_table(lake, table_name, data, dataset=dataset, run_date=run_date, stem=stem)


def write_columns(
    lake: Path,
    table_name: str,
    columns: Mapping[str, Sequence[Any]],
    *,
    dataset: str,
    run_date: date,
    stem: str,
) -> Path | None:
    """Like `write_rows`, from columns of equal length; a nullable column may be left out."""
    table = TABLES[table_name]
    data = _columns_to_arrow(table, columns)
    return write_table(lake, table_name, data, dataset=dataset, run_date=run_date, stem=stem)


def write_table(
    lake: Path, table_name: str, data: pa.Table, *, dataset: str, run_date: date, stem: str
) -> Path | None:
    """Write an Arrow table that already has the declared schema, without any secret in it."""
    table = TABLES[table_name]
    for name in (dataset, stem):
        if not is_file_name(name):
            raise LakeError(f"{name!r} cannot name a folder or file of the lake", where=table_name)
    _validate(table, data)
    if data.num_rows == 0:
        return None
    data = scrubbed(table_name, data)
    pin_schema(lake, table)
    folder = lake / table.name / f"dataset={dataset}" / f"run_date={run_date.isoformat()}"
    path = folder / f"{stem}.parquet"
    if path.exists():
        raise LakeError("a lake file is never overwritten", where=str(path))
    _write_atomically(path, data, table)
    return path


def pin_schema(lake: Path, table: LakeTable) -> None:
    """Write the zero-row file that makes an empty table legal and fixes its columns."""
    path = lake / table.name / _PINNED
    if not path.exists():
        _write_atomically(path, table.schema.empty_table(), table)


def _write_atomically(path: Path, data: pa.Table, table: LakeTable) -> None:
    metadata = {b"evalake.table": table.name.encode(), b"evalake.version": b"%d" % table.version}
    with replacing(path) as file:
        pq.write_table(
            data.replace_schema_metadata(metadata), file, compression="zstd", compression_level=3
        )


def _to_arrow(table: LakeTable, rows: Sequence[Row], dataset: str) -> pa.Table:
    known = set(table.schema.names)
    for number, row in enumerate(rows):
        if unknown := row.keys() - known:
            raise LakeError(f"row {number} has unknown columns {sorted(unknown)}", where=table.name)
        if row.get("dataset") != dataset:
            raise LakeError(
                f"row {number} is of dataset {row.get('dataset')!r}, not {dataset!r}",
                where=table.name,
            )
    return _columns_to_arrow(
        table, {name: [row.get(name) for row in rows] for name in table.schema.names}
    )


def _columns_to_arrow(table: LakeTable, columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    if unknown := columns.keys() - set(table.schema.names):
        raise LakeError(f"unknown columns {sorted(unknown)}", where=table.name)
    length = max((len(values) for values in columns.values()), default=0)
    arrays = []
    for field in table.schema:
        values = columns.get(field.name)
        try:
            # Inferred, then cast: given the type at once, pyarrow would cut 1.5 down to 1.
            found = pa.nulls(length) if values is None else pa.array(values, from_pandas=False)
            arrays.append(found.cast(field.type))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError) as error:
            raise LakeError(f"column {field.name!r}: {error}", where=table.name) from error
    return pa.Table.from_arrays(arrays, schema=table.schema)


def _validate(table: LakeTable, data: pa.Table) -> None:
    if not data.schema.equals(table.schema, check_metadata=False):
        raise LakeError(
            f"columns differ from the declared schema: {data.schema.to_string()}", where=table.name
        )
    for field in table.schema:
        if not field.nullable and data.column(field.name).null_count:
            raise LakeError(f"column {field.name!r} may not be NULL", where=table.name)
    for name, words in table.words.items():
        if unknown := set(data.column(name).unique().to_pylist()) - {None, *words}:
            raise LakeError(
                f"column {name!r} has {sorted(unknown)}; it takes {', '.join(words)}",
                where=table.name,
            )
