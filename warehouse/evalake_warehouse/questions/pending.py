"""Runs whose evidence is in the lake and not, or not whole, in the warehouse that is asked."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalake_warehouse.identity import content_hash
from evalake_warehouse.lake.judgements import Judges, read_pins
from evalake_warehouse.lake.reader import files_hash

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from evalake_warehouse.lake.reader import LakeListing


@dataclass(frozen=True, slots=True)
class Pending:
    """How many runs wait for a build, and the command that judges them."""

    n_new: int
    n_changed: int  # judged before some of their files were written
    n_other_gold: int  # judged before an edition arrived that may judge them
    command: str
    behind: frozenset[str] = frozenset()  # ids of those judged too early

    def __str__(self) -> str:
        told = []
        if self.n_new:
            told.append(f"{_count(self.n_new)} not judged yet")
        if self.n_changed:
            told.append(f"{_count(self.n_changed)} judged without the latest evidence")
        if self.n_other_gold:
            told.append(f"{_count(self.n_other_gold)} judged before the latest edition arrived")
        return f"{' and '.join(told)}: {self.command}"


def find_pending(connection: DuckDBPyConnection, listing: LakeListing) -> Pending | None:
    """Runs that the lake has and the warehouse lacks or has in part; None where there are none.

    Nothing is read of the lake but its listing and the rows of `datasets`. Rules and variables that
    changed are not looked at: only a build knows them.
    """
    begun = {file.owner for file in listing.by_table["runs"]}
    if not begun:
        return None
    found = connection.execute(
        "select run_id, files_hash, dataset, editions_hash from int_build_state"
    ).fetchall()
    judged = {run_id: hashed for run_id, hashed, *_ in found}
    judges = Judges(listing, read_pins(_variables(connection).get("gold", "")))
    chosen = {dataset: content_hash(judges.editions_key(dataset)) for *_, dataset, _ in found}
    other = {
        run_id
        for run_id, _, dataset, hashed in found
        if run_id in begun and chosen[dataset] != hashed
    }
    changed = {
        run for run in begun & judged.keys() if judged[run] != files_hash(listing.by_run[run])
    }
    n_new = len(begun - judged.keys())
    if not n_new and not changed and not other:
        return None
    command = build_command(connection)
    return Pending(n_new, len(changed), len(other), command, frozenset(changed | other))


def mark_behind(connection: DuckDBPyConnection, run_ids: Iterable[str] = ()) -> None:
    """Keep for `run_cautions` which runs were judged too early, beside those marked before."""
    connection.execute("create temp table if not exists runs_behind (run_id varchar)")
    connection.execute("insert into runs_behind select unnest(?::varchar[])", [list(run_ids)])


def _variables(connection: DuckDBPyConnection) -> dict[str, Any]:
    row = connection.execute(
        "select vars_json from meta_build order by build_id desc limit 1"
    ).fetchone()
    variables: dict[str, Any] = json.loads(row[0]) if row else {}
    return variables


def build_command(connection: DuckDBPyConnection) -> str:
    """The command that brings the opened warehouse up to date."""
    row = connection.execute(
        "select scenario from meta_build order by build_id desc limit 1"
    ).fetchone()
    return f"evalake build --scenario {row[0]}" if row and row[0] else "evalake build"


def _count(number: int) -> str:
    return "1 run is" if number == 1 else f"{number} runs are"
