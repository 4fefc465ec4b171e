"""What a build starts from: the last build that is sound. One that is not is set aside.

A file that a build made and nobody touched since is known by size and time. Any other is read
through once, because a damaged block is found only by whoever reads it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb

from evalake_warehouse.build.inputs import read_state, read_variables
from evalake_warehouse.derived import load_marks, save_marks, set_aside
from evalake_warehouse.errors import UsageError
from evalake_warehouse.lake.reader import quoted
from evalake_warehouse.project import Project
from evalake_warehouse.questions.warehouse_files import (
    attach_file,
    candidates,
    current_file,
    holder_of,
    point_to,
    unreadable,
    warehouse_link,
)


def find_start(project: Project, scenario: str | None, *, with_variables: bool) -> Path | None:
    """The last sound build of a warehouse; None for none.

    The stable name stands for it from now on, and later builds, which are damaged, are set aside.
    Where another process holds it, it is a copy in the build's folder.

    Args:
        with_variables: the build is to keep the variables of the one before it.

    Raises:
        UsageError: those variables are lost, because no build of the scenario can be read.
    """
    damaged: list[tuple[Path, str]] = []
    chosen = start = None
    for file in candidates(project, scenario):
        try:
            chosen, start = file, _sound(project, file)
        except (duckdb.Error, OSError, ValueError) as error:
            damaged.append((file, unreadable(error)))
        else:
            break
    if start is None and damaged and scenario is not None and with_variables:
        raise UsageError(
            "no build of this scenario can be read, so that its variables are lost: name them",
            where=str(damaged[0][0]),
            hint=f"evalake build --var text_threshold=80 --scenario {scenario}",
        )
    for file, why in damaged:
        set_aside(project.home, file, why)
        if (log := file.with_name(f"{file.name}.wal")).exists():
            set_aside(project.home, log, "of that file")
    _mend_name(project, warehouse_link(project, scenario), chosen if start else None)
    return start


def remember_sound(project: Project, file: Path) -> None:
    """Note that a build is sound as it is now."""
    stat = file.stat()
    known = load_marks(_marks_file(project))
    known = {name: mark for name, mark in known.items() if (project.home / name).exists()}
    save_marks(
        _marks_file(project), known | {_name(project, file): [stat.st_size, stat.st_mtime_ns]}
    )


def forget_copy(project: Project) -> None:
    """Remove the copy of a held build, which a build began with."""
    _copy_file(project).unlink(missing_ok=True)


def _sound(project: Project, file: Path) -> Path:
    """The file, or a copy where another process holds it; raises an error where it is damaged."""
    stat = file.stat()
    known = load_marks(_marks_file(project)).get(_name(project, file))
    try:
        _read_through(file, blocks=known != [stat.st_size, stat.st_mtime_ns])
    except duckdb.Error as error:
        if holder_of(error) is None:
            raise
        copy = _copy_file(project)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        _read_through(copy, blocks=True)
        return copy
    remember_sound(project, file)
    return file


def _read_through(file: Path, *, blocks: bool) -> None:
    with duckdb.connect() as connection:
        attach_file(connection, file)
        found = connection.execute(
            "select schema_name, table_name from duckdb_tables() where database_name = 'warehouse'"
        ).fetchall()
        for schema, table in found if blocks else ():
            name = f"warehouse.{quoted(schema)}.{quoted(table)}"
            connection.execute(f"select bit_xor(hash(part)) from {name} as part").fetchall()
    read_state(file)
    read_variables(file)


def _mend_name(project: Project, link: Path, start: Path | None) -> None:
    """Let the stable name stand for the build that was chosen, or for none."""
    current = current_file(link)
    if current is None and (link.is_symlink() or link.exists()):
        set_aside(project.home, link, "stands for no build")
    if start is not None and start != current:
        point_to(link, start)


def _marks_file(project: Project) -> Path:
    return project.home / "warehouse-checked.json"


def _name(project: Project, file: Path) -> str:
    return file.relative_to(project.home).as_posix()


def _copy_file(project: Project) -> Path:
    return project.home / "build" / "held.duckdb"
