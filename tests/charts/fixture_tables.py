"""What a synthetic warehouse is filled with: rows of its marts, and of the lake behind it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from tests.charts.fixture_arms import DEFINITIONS, T0, VARIABLES
from tests.charts.fixture_schemas import SCHEMAS

from evalake_warehouse.lake.writer import write_rows

Row = dict[str, Any]


@dataclass
class Tables:
    marts: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in SCHEMAS})
    lake_rows: dict[tuple[str, str], list[Row]] = field(default_factory=dict)
    # (run, metric) -> the score of every task in order, from which all figures follow.
    scores: dict[tuple[str, str], list[float | None]] = field(default_factory=dict)
    texts: set[tuple[str, str]] = field(default_factory=set)  # (dataset, hash) in the lake

    def lake(self, table: str, dataset: str, row: Row) -> None:
        self.lake_rows.setdefault((table, dataset), []).append({"dataset": dataset, **row})

    def write_marts(self, path: Path) -> None:
        with duckdb.connect(str(path)) as connection:
            for name, schema in SCHEMAS.items():
                unknown = {key for row in self.marts[name] for key in row} - set(schema.names)
                assert not unknown, f"no column of {name}: {sorted(unknown)}"
                data = pa.Table.from_pylist(self.marts[name], schema=schema)
                connection.register("incoming", data)
                connection.execute(f"create table {name} as select * from incoming")
                connection.unregister("incoming")
            connection.execute(
                "create table meta_build as "
                "select 'b1' as build_id, ? as vars_json, 'r1' as relevance_rules",
                [json.dumps(VARIABLES)],
            )
            connection.execute(
                "create table metric_definitions as select * from read_csv(?)", [str(DEFINITIONS)]
            )

    def write_lake(self, lake: Path) -> None:
        for (table, dataset), rows in self.lake_rows.items():
            write_rows(
                lake,
                table,
                rows,
                dataset=dataset,
                run_date=T0.date(),
                stem=f"fixture-{table}",
            )
