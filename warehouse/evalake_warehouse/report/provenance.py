"""Report section on the data: what was dropped and why, caveats, and uses of the test split."""

from __future__ import annotations

from typing import Any

from evalake_warehouse.charts.selection import Selection
from evalake_warehouse.report.tables import Column, Section, Table, count, text


def drops_and_caveats(selection: Selection) -> Section:
    """Where the tasks come from, which rows were left out, and what to keep in mind."""
    first = selection.runs[0]
    place = (first.dataset, first.edition)
    datasets = selection.marts.rows(
        "select * from lake.datasets where dataset = ? and edition = ? "
        "qualify row_number() over (order by ingested_at desc) = 1",
        *place,
    )
    drops = selection.marts.rows(
        """
        select reason, count(*) as n, min(source_row) as example, any_value(evidence) as evidence
        from (
            select distinct reason, source_row, evidence
            from lake.drops
            where dataset = ? and edition = ?
        )
        group by reason
        order by n desc, reason
        """,
        *place,
    )
    looks = selection.marts.rows(
        "select looked_at, who, why, confirmatory, family from fct_looks "
        "where dataset = ? order by looked_at desc",
        first.dataset,
    )
    lines = [caveat for row in datasets for caveat in row["caveats"] or []]
    tables = [_source_table(datasets)] if datasets else []
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


def _source_table(datasets: list[dict[str, Any]]) -> Table:
    row = datasets[0]
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
