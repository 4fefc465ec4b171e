"""Report section on the data: what was dropped and why, caveats, and uses of the test split."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalake_reports.charts.selection import Selection
from evalake_reports.report.dataset_facts import dataset_row, drop_rows
from evalake_reports.report.tables import Column, Section, Table, count, text


def drops_and_caveats(selection: Selection) -> Section:
    """Where the tasks come from, which rows were left out, and what to keep in mind."""
    dataset = dataset_row(selection)
    drops = drop_rows(selection)
    looks = selection.marts.rows(
        "select looked_at, who, why, confirmatory, family from fct_looks "
        "where dataset = ? order by looked_at desc",
        selection.runs[0].dataset,
    )
    lines = list(dataset["caveats"] or []) if dataset else []
    tables = [_source_table(dataset)] if dataset else []
    if drops:
        columns = [
            text("reason", kind="code"),
            count("n", "rows"),
            text("example", kind="code"),
            text("evidence", kind="long"),
        ]
        tables.append(Table("drops", columns, drops, caption="Source rows left out"))
    else:
        lines.append("No source row was left out.")
    if looks:
        columns = [
            Column("when (UTC)", lambda row: f"{row['looked_at']:%Y-%m-%d %H:%M}"),
            text("who"),
            text("why", kind="long"),
            text("family"),
            text("confirmatory"),
        ]
        tables.append(Table("looks", columns, looks, caption="Uses of the test tasks"))
    return Section("drops", "Drops and caveats", text=lines, tables=tables)


def _source_table(row: Mapping[str, Any]) -> Table:
    facts = {
        "dataset": row["dataset"],
        "edition": row["edition"],
        "revision": row["revision"],
        "source": row["source"],
        "sha256": row["sha256"],
        "licence": row["licence"],
        "citation": row["citation"],
        "rows": f"{row['rows_read']} read, {row['rows_kept']} kept, {row['rows_dropped']} dropped",
        "gold at level": row["primary_level"],
    }
    shown = [{"what": key, "value": value} for key, value in facts.items() if value]
    return Table("dataset", [text("what"), text("value", kind="long")], shown)
