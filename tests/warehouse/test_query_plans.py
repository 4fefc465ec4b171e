"""No model joins every row with every row."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.compiled import CompiledModels, lake_files, open_lake, run_models
from lake_factory import RunWriter, docs, write_dataset

# These set gold and runs against the few dozen metric definitions, which is what they are for.
AGAINST_DEFINITIONS = {"int_ideal_dcg", "int_run_definitions"}


def test_no_model_falls_back_to_a_nested_loop(tmp_path: Path, models: CompiledModels) -> None:
    edition = write_dataset(tmp_path, {"t1": {"a": 1}, "t2": {"b": 1}})
    run = RunWriter(tmp_path, edition)
    run.event("started", n_tasks=2)
    run.attempts({"t1": docs("a", "x"), "t2": docs("y")})
    connection = open_lake(models, lake_files(tmp_path), [run.run_id])
    wanted = ("fct_hits", "fct_task_metrics", "fct_run_completeness")  # and fct_run_branches
    run_models(connection, models, *wanted)
    for name in set(models.needed_by(*wanted)) - AGAINST_DEFINITIONS:
        plan = connection.execute(f"explain {models.sql[name]}").fetchall()[-1][1]
        if "BLOCKWISE_NL_JOIN" in plan:
            pytest.fail(f"{name} compares every row with every row:\n{plan}")
