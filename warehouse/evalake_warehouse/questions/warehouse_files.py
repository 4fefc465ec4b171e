"""The files of a warehouse: its stable name, its builds, and one of them attached for reading.

A build is a file that is never written again, and the stable name stands for the last of them.
All of them follow from the lake, so that one which is damaged is passed over by readers, and set
aside and made again by a build.
"""

from __future__ import annotations

import logging
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from evalake_warehouse.errors import EvalakeError, UsageError
from evalake_warehouse.file_names import is_file_name
from evalake_warehouse.lake.reader import sql_literal
from evalake_warehouse.project import Project
from evalake_warehouse.scratch import scratch_folder

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_log = logging.getLogger(__name__)

_POINTER = b"evalake-pointer "
_MAX_SCENARIO = 64
_HOLDER = re.compile(r"lock is held in (?P<program>.+?) \(PID (?P<pid>\d+)\)")
# Linux and macOS; Windows.
_HELD = re.compile("Could not set lock on file|used by another process")


def warehouse_link(project: Project, scenario: str | None = None) -> Path:
    """Stable name of a warehouse: the default one, or that of a what-if scenario.

    Raises:
        UsageError: a scenario name that is no plain file name.
    """
    if scenario is None:
        return project.warehouse
    # `@` stands between the name and the build's id in the name of its file.
    if not is_file_name(scenario) or len(scenario) > _MAX_SCENARIO or "@" in scenario:
        raise UsageError(
            f"{scenario!r} is no scenario name; use letters, digits, '_', '-' and '.'",
            where="--scenario",
        )
    return project.home / "scenarios" / f"{scenario}.duckdb"


def build_file(project: Project, scenario: str | None, build_id: str) -> Path:
    """Where one finished build of a warehouse lies."""
    link = warehouse_link(project, scenario)
    return link.with_name(f"{_prefix(link, scenario)}{build_id}.duckdb")


def builds(project: Project, scenario: str | None = None) -> list[Path]:
    """All builds of a warehouse on disk, oldest first."""
    link = warehouse_link(project, scenario)
    prefix = _prefix(link, scenario)
    return sorted(file for file in link.parent.glob("*.duckdb") if file.name.startswith(prefix))


def candidates(project: Project, scenario: str | None = None) -> list[Path]:
    """The build that the stable name stands for, then the others, newest first."""
    current = current_file(warehouse_link(project, scenario))
    others = [file for file in reversed(builds(project, scenario)) if file != current]
    return [*([current] if current else []), *others]


def current_file(link: Path) -> Path | None:
    """The build that a stable name stands for now; None where nothing was built yet."""
    try:
        if link.is_symlink():
            target = link.parent / link.readlink()
        elif link.is_file():
            head = link.read_bytes()[:200] if link.stat().st_size < 200 else b""
            name = head.removeprefix(_POINTER).decode(errors="replace").strip()
            target = link.parent / name if head.startswith(_POINTER) else link
        else:
            return None
        return target if target.is_file() else None
    except (OSError, ValueError):  # a loop of links, a name that is none
        return None


def point_to(link: Path, target: Path) -> None:
    """Make a stable name stand for `target`, atomically; by a pointer file where links fail."""
    temporary = link.with_name(f"{link.name}.{target.stem}.tmp")
    for leftover in link.parent.glob(f"{link.name}.*.tmp"):  # of builds that were killed
        leftover.unlink(missing_ok=True)
    try:
        temporary.symlink_to(target.name)
    except OSError:
        temporary.write_bytes(_POINTER + target.name.encode() + b"\n")
    temporary.replace(link)


def scenarios(project: Project) -> list[str]:
    """Names of the what-if scenarios built so far."""
    folder = project.home / "scenarios"
    return sorted(link.stem for link in folder.glob("*.duckdb") if "@" not in link.stem)


def attach_current(
    connection: DuckDBPyConnection, project: Project, scenario: str | None = None
) -> None:
    """Attach a warehouse as `warehouse`, read-only; what had to be passed over is logged.

    A file that another process holds is read from a private copy. In place of one that is damaged,
    the build before it is read.

    Raises:
        UsageError: nothing was built yet, the scenario does not exist, or no build can be read.
    """
    found = candidates(project, scenario)
    if not found:
        raise _nothing_built(project, scenario)
    troubles: list[str] = []
    for file in found:
        try:
            _attach(connection, file)
        except (duckdb.Error, OSError) as error:
            troubles.append(f"{file}: {unreadable(error)}")
            continue
        for trouble in troubles:
            _log.warning("%s; read in its place: %s", trouble, file.name)
        if troubles:
            _log.warning("what is shown may be behind the lake: %s", build_hint(scenario))
        return
    raise UsageError("\n".join(troubles), hint=build_hint(scenario))


def holder_of(error: Exception) -> str | None:
    """The process that holds a file open for writing, as `python3.11 (pid 17)`.

    None for an error that is of another kind.
    """
    if not _HELD.search(str(error)):
        return None
    found = _HOLDER.search(str(error))
    return f"{Path(found['program']).name} (pid {found['pid']})" if found else "another process"


def unreadable(error: Exception) -> str:
    """Why a warehouse file cannot be read, in one line without its path."""
    told = str(error).splitlines()[0] if str(error) else type(error).__name__
    return "damaged, or no DuckDB file: " + re.sub(r'(file )?"[^"]*"', "the file", told).strip()


def build_hint(scenario: str | None) -> str:
    """The command that makes a warehouse again."""
    return "evalake build" if scenario is None else f"evalake build --scenario {scenario}"


def _attach(connection: DuckDBPyConnection, file: Path) -> None:
    try:
        attach_file(connection, file)
    except duckdb.Error as error:
        holder = holder_of(error)
        if holder is None:
            raise
        _log.warning("%s is held by %s, so a copy of it is read", file, holder)
        # Its name is gone when the block ends; what was opened in it stays open.
        with scratch_folder(Path(tempfile.gettempdir()), "evalake-") as folder:
            copy = Path(shutil.copyfile(file, folder / file.name))
            attach_file(connection, copy)


def attach_file(connection: DuckDBPyConnection, file: Path) -> None:
    """Attach a file as `warehouse`, read-only.

    Raises:
        duckdb.Error: it is held, damaged, or its end is missing.
    """
    connection.execute(f"attach {sql_literal(str(file))} as warehouse (read_only)")
    whole = connection.execute(
        "select used_blocks * block_size from pragma_database_size() "
        "where database_name = 'warehouse'"
    ).fetchone()
    if whole is not None and file.stat().st_size < whole[0]:
        connection.execute("detach warehouse")
        raise duckdb.IOException(f"cut: it has fewer than its {whole[0]:,} bytes")


def _prefix(link: Path, scenario: str | None) -> str:
    return f"{link.stem}{'-' if scenario is None else '@'}"


def _nothing_built(project: Project, scenario: str | None) -> EvalakeError:
    if scenario is None:
        return UsageError("no warehouse here yet", where=str(project.home), hint="evalake build")
    known = ", ".join(scenarios(project)) or "none"
    return UsageError(
        f"no scenario {scenario!r}; there are: {known}",
        where=str(project.home),
        hint=f"evalake build --var text_threshold=80 --scenario {scenario}",
    )
