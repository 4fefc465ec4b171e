"""Read the lake: list its files, set bad ones aside by name, and make them one relation.

One torn file fails a whole Parquet scan, so every file's footer is checked before DuckDB sees
it. Files are immutable, so a file once found good (same path, size and time) is not opened again.
"""

from __future__ import annotations

import glob
import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from evalake_warehouse.derived import load_marks, save_marks
from evalake_warehouse.errors import Problem
from evalake_warehouse.identity import content_hash
from evalake_warehouse.lake.checks import check_file
from evalake_warehouse.lake.schemas import TABLES, LakeTable

_RUN_ID_LENGTH = 36
_CHECKED = "lake-checked.json"


@dataclass(frozen=True, slots=True)
class LakeFile:
    """One good file of the lake."""

    table: str
    path: Path
    dataset: str
    stem: str
    size: int

    @property
    def owner(self) -> str:
        """What the file belongs to: a run id, or the edition, corpus or build it is named by."""
        if TABLES[self.table].per_run:
            return self.stem[:_RUN_ID_LENGTH]
        return self.stem.split("-", 1)[0]


@dataclass(frozen=True)
class LakeListing:
    """The lake's good files, and what is wrong with the others."""

    files: tuple[LakeFile, ...]
    problems: tuple[Problem, ...] = field(default=())

    @cached_property
    def by_table(self) -> Mapping[str, list[LakeFile]]:
        """Good files per table; every table has an entry."""
        grouped: dict[str, list[LakeFile]] = {name: [] for name in TABLES}
        for file in self.files:
            grouped[file.table].append(file)
        return grouped

    @cached_property
    def by_run(self) -> Mapping[str, list[LakeFile]]:
        """Good files of the per-run tables, per run id."""
        grouped: defaultdict[str, list[LakeFile]] = defaultdict(list)
        for file in self.files:
            if TABLES[file.table].per_run:
                grouped[file.owner].append(file)
        return grouped

    def paths(self, table: str, *, datasets: Iterable[str] | None = None) -> list[Path]:
        """Good files of one table, all of them or those of some datasets."""
        wanted = None if datasets is None else set(datasets)
        return [
            file.path for file in self.by_table[table] if wanted is None or file.dataset in wanted
        ]


def list_lake(home: Path) -> LakeListing:
    """List every file under `home/lake`, opening only footers that were not seen before.

    A file that `check_file` refuses, and one that cannot be looked at, are left out and named in
    `problems`. The rest of the lake stays usable.
    """
    lake = home / "lake"
    checked = load_marks(home / _CHECKED)
    good: list[LakeFile] = []
    problems: list[Problem] = []
    seen: dict[str, list[int]] = {}
    for table, path, found in _walk(lake, problems):
        key = str(path.relative_to(lake))
        mark = [found.st_size, found.st_mtime_ns, table.version]
        problem = None if checked.get(key) == mark else check_file(table, path)
        if problem is not None:
            problems.append(Problem(str(path), problem))
            continue
        seen[key] = mark
        good.append(_lake_file(table, path, found))
    if seen != checked:
        save_marks(home / _CHECKED, seen)
    return LakeListing(tuple(good), tuple(problems))


def list_files(lake: Path) -> Iterator[LakeFile]:
    """Every file of the lake's tables by its name, torn ones too; none is opened."""
    for table, path, found in _walk(lake, []):
        yield _lake_file(table, path, found)


def files_hash(files: Iterable[LakeFile]) -> str:
    """One hash for a set of files, which are immutable: by table, name and size."""
    return content_hash(sorted([file.table, file.path.name, file.size] for file in files))


def relation_sql(table: str, paths: Iterable[Path]) -> str:
    """A `select` over files of one table with exactly its declared columns and types.

    No path gives a legal, empty relation; columns that older files lack are NULL.
    """
    schema = TABLES[table].schema
    columns = [(field.name, _sql_type(field.type)) for field in schema]
    # DuckDB takes a path for a pattern, and a folder of the user may be called `a*b`.
    files = [sql_literal(glob.escape(str(path))) for path in paths]
    if not files:
        empty = ", ".join(f"cast(null as {kind}) as {quoted(name)}" for name, kind in columns)
        return f"select {empty} where false"
    listed = ", ".join(files)
    # A typed, empty first branch gives columns that no file has yet.
    present = ", ".join(quoted(name) for name, _ in columns)
    typed = ", ".join(f"cast(null as {kind}) as {quoted(name)}" for name, kind in columns)
    return (
        f"select {present} from (select {typed} where false union all by name "
        f"from read_parquet([{listed}], union_by_name = true, hive_partitioning = false))"
    )


def sql_literal(text: str) -> str:
    """A string as an SQL expression; DuckDB's parser ends a literal at NUL."""
    parts = ["'" + part.replace("'", "''") + "'" for part in text.split("\0")]
    return parts[0] if len(parts) == 1 else f"({' || chr(0) || '.join(parts)})"


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _lake_file(table: LakeTable, path: Path, found: os.stat_result) -> LakeFile:
    dataset = path.parent.parent.name.removeprefix("dataset=")
    return LakeFile(table.name, path, dataset, path.stem, found.st_size)


def _walk(lake: Path, problems: list[Problem]) -> Iterator[tuple[LakeTable, Path, os.stat_result]]:
    """Parquet files of the lake's tables; what cannot be looked at is added to the problems."""
    for name, table in TABLES.items():
        for dataset in _entries(lake / name, problems):
            if not dataset.name.startswith("dataset=") or dataset.name == "dataset=__schema":
                continue
            for run_date in _entries(Path(dataset.path), problems):
                for entry in _entries(Path(run_date.path), problems):
                    if not entry.name.endswith(".parquet"):
                        continue
                    found = _stat(entry, problems)
                    if found is not None:
                        yield table, Path(entry.path), found


def _entries(folder: Path, problems: list[Problem]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problems.append(Problem(str(folder), f"cannot be listed, skipped: {error.strerror}"))
        return []


def _stat(entry: os.DirEntry[str], problems: list[Problem]) -> os.stat_result | None:
    try:
        found = entry.stat()
    except OSError as error:  # a loop of links, a link to nothing
        problems.append(Problem(entry.path, f"cannot be read, skipped: {error.strerror}"))
        return None
    if not stat.S_ISREG(found.st_mode):
        problems.append(Problem(entry.path, "no file, skipped; move it out of the lake"))
        return None
    return found


_SQL_TYPES = {
    pa.string(): "varchar",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.timestamp("us"): "timestamp",
    pa.list_(pa.string()): "varchar[]",
}


def _sql_type(kind: pa.DataType) -> str:
    return _SQL_TYPES[kind]
