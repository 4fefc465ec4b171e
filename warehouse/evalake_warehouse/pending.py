"""Runs whose evidence is in the lake and not, or not whole, in the warehouse that is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalake_warehouse.lake.reader import files_hash

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from evalake_warehouse.lake.reader import LakeListing


@dataclass(frozen=True, slots=True)
class Pending:
    """How many runs wait for a build, and the command that judges them."""

    n_new: int
    n_changed: int  # judged before some of their files were written
    command: str

    def __str__(self) -> str:
        told = []
        if self.n_new:
            told.append(f"{_count(self.n_new)} not judged yet")
        if self.n_changed:
            told.append(f"{_count(self.n_changed)} judged without the latest evidence")
        return f"{' and '.join(told)}: {self.command}"


def find_pending(connection: DuckDBPyConnection, listing: LakeListing) -> Pending | None:
    """What the lake has of runs and the warehouse has not; None where it has all.

    Nothing is read of the lake but its listing. Rules, gold and variables that changed are not
    looked at: only a build knows them.
    """
    begun = {file.owner for file in listing.by_table["runs"]}
    if not begun:
        return None
    found = connection.execute("select run_id, files_hash from int_build_state").fetchall()
    judged: dict[str, str] = dict(found)
    n_changed = sum(judged[run] != files_hash(listing.by_run[run]) for run in begun & judged.keys())
    n_new = len(begun - judged.keys())
    if not n_new and not n_changed:
        return None
    return Pending(n_new, n_changed, build_command(connection))


def build_command(connection: DuckDBPyConnection) -> str:
    """The command that brings the opened warehouse up to date."""
    row = connection.execute(
        "select scenario from meta_build order by built_at desc limit 1"
    ).fetchone()
    return f"evalake build --scenario {row[0]}" if row and row[0] else "evalake build"


def _count(number: int) -> str:
    return "1 run is" if number == 1 else f"{number} runs are"
