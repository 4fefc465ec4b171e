"""Helpers of the statistics tests: series from matrices, and macros as plain SQL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from evalake_warehouse.identity import task_seed
from evalake_warehouse.questions.rendered_macros import render_macro
from evalake_warehouse.statistics.series import Series

MACROS = Path(__file__).resolve().parents[1] / "warehouse" / "dbt-project" / "macros"
VARIABLES = {
    "confidence": 0.95,
    "resamples": 1000,
    "bootstrap_seed": 0,
    "margin": 0.02,
    "min_pairs": 10,
}


def seeds_for(n: int) -> NDArray[np.int64]:
    return np.array(sorted(task_seed("toy", f"t{i}") for i in range(n)), dtype=np.int64)


def series_of(
    rows: Sequence[Sequence[float | None]], strata: Sequence[int] | None = None
) -> Series:
    """One series per row; None where a series lacks the task of that column."""
    n = len(rows[0]) if len(rows) else 0
    seeds, groups = seeds_for(n), np.array(strata if strata is not None else [-1] * n)
    starts, flat, scores, labels = [0], [], [], []
    for row in rows:
        for column, value in enumerate(row):
            if value is not None:
                flat.append(seeds[column])
                scores.append(round(value * 1e6))
                labels.append(groups[column])
        starts.append(len(flat))
    return Series(*(np.array(part, dtype=np.int64) for part in (starts, flat, scores, labels)))


def macro(call: str, **variables: Any) -> str:
    return render_macro(MACROS, call, VARIABLES | variables)


def value_of(expression: str) -> Any:
    row = duckdb.sql(f"select {expression}").fetchone()
    assert row is not None
    return row[0]
