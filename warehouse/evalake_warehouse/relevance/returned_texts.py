"""What runs returned and what judges it, for all that is derived from their texts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from evalake_warehouse.lake.editions import judgements_sql
from evalake_warehouse.lake.reader import LakeListing, relation_sql

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def datasets_of(listing: LakeListing, run_ids: Collection[str]) -> list[str]:
    """Names of the datasets that the runs are of, sorted."""
    files = (file for run_id in run_ids for file in listing.by_run.get(run_id, ()))
    return sorted({file.dataset for file in files})


def create_views(
    connection: DuckDBPyConnection,
    listing: LakeListing,
    editions: Mapping[str, str],
    dataset: str,
    *,
    derived: str,
) -> None:
    """Make the views `judgements`, `hits`, `qrels`, `texts` and the one of the derived table.

    Args:
        editions: the edition that judges each run, per run id; hits are of these runs.
        derived: table of the lake that holds what is known of the texts by now.
    """
    connection.execute(judgements_sql("judgements", editions))
    paths = [file.path for file in listing.by_table["hits"] if file.owner in editions]
    connection.execute(f"create view hits as {relation_sql('hits', paths)}")
    for table in ("qrels", "texts", derived):
        paths = listing.paths(table, datasets=[dataset])
        connection.execute(f"create view {table} as {relation_sql(table, paths)}")
