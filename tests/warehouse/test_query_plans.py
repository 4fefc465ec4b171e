"""No model joins every row with every row."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from lake_factory import RunWriter, docs, write_dataset

from evalake_warehouse.build.compiled_models import CompiledModels, lay_out, run_models

# These set gold and runs against the few dozen metric definitions, which is what they are for.
AGAINST_DEFINITIONS = {"int_ideal_dcg", "int_run_definitions"}


def test_no_model_falls_back_to_a_nested_loop(tmp_path: Path, models: CompiledModels) -> None:
    edition = write_dataset(tmp_path, {"t1": {"a": 1}, "t2": {"b": 1}})
    run = RunWriter(tmp_path, edition)
    run.event("started", n_tasks=2)
    run.attempts({"t1": docs("a", "x"), "t2": docs("y")})
    connection = duckdb.connect()
    lay_out(connection, models, tmp_path)
    wanted = ("fct_hits", "fct_task_metrics", "fct_run_completeness")  # and fct_run_branches
    run_models(connection, models, *wanted)
    for name in set(models.needed_by(*wanted)) - AGAINST_DEFINITIONS:
        plan = connection.execute(f"explain {models.sql[name]}").fetchall()[-1][1]
        if "BLOCKWISE_NL_JOIN" in plan:
            pytest.fail(f"{name} compares every row with every row:\n{plan}")
