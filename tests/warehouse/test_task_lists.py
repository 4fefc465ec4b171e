"""Which lists count as the same: places and texts by rank, whatever the index, scores or order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from lake_factory import RunWriter, write_dataset

from evalake_warehouse.build.compiled_models import CompiledModels, lay_out, run_models

Hit = dict[str, Any]


def places(*paths: str, **extra: Any) -> list[Hit]:
    return [{"item_id": f"chunk {path}", "raw_path": path, "path": path, **extra} for path in paths]


BASE = places("a.py", "b.py")
LISTS: dict[str, list[Hit] | str] = {
    "base": BASE,
    "another index": [hit | {"item_id": "x", "score": 0.5, "title": "t"} for hit in BASE],
    "swapped": BASE[::-1],
    "longer": [*BASE, *places("c.py")],
    "lines": places("a.py", "b.py", start_line=1, end_line=9),
    "text": places("a.py", "b.py", text_sha256="ab"),
    "documents": [{"item_id": "1", "doc_id": "a.py"}, {"item_id": "2", "doc_id": "b.py"}],
    "ids": [{"item_id": "1"}, {"item_id": "2"}],
    "other ids": [{"item_id": "1"}, {"item_id": "3"}],
    "unresolved": [
        BASE[0],
        {"item_id": "2", "raw_path": "b.py", "path": None, "path_status": "unresolved"},
    ],
    "nothing": [],
    "nothing either": [],
    "failed": "error",
}


@pytest.fixture(scope="module")
def rows(
    models: CompiledModels, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Any, ...]]:
    home: Path = tmp_path_factory.mktemp("lists")
    edition = write_dataset(home, {"t": {"a.py": 1}}, level="file", relation="file")
    runs = {}
    for label, answer in LISTS.items():
        run = RunWriter(home, edition, arm_label=label)
        run.event("started", n_tasks=1)
        run.attempts({"t": answer})
        runs[run.run_id] = label
    connection = duckdb.connect()
    lay_out(connection, models, home)
    run_models(connection, models, "fct_task_lists")
    found = connection.execute(
        "select run_id, list_digest, n_hits, n_paths, n_unresolved from warehouse.fct_task_lists"
    ).fetchall()
    return {runs[run_id]: tuple(row) for run_id, *row in found}


def test_lists_are_the_same_where_the_same_places_and_texts_have_the_same_ranks(
    rows: dict[str, tuple[Any, ...]],
) -> None:
    digests = {label: row[0] for label, row in rows.items()}
    assert digests["another index"] == digests["base"]
    assert digests["nothing either"] == digests["nothing"]
    assert digests["failed"] is None
    alike = {"another index", "nothing either", "failed"}
    different = {label: digest for label, digest in digests.items() if label not in alike}
    assert len(set(different.values())) == len(different)


def test_paths_that_are_in_no_corpus_are_counted(rows: dict[str, tuple[Any, ...]]) -> None:
    assert rows["unresolved"][1:] == (2, 2, 1)
    assert rows["base"][1:] == (2, 2, 0)
    assert rows["documents"][1:] == (2, 0, 0)
    assert rows["failed"][1:] == (0, 0, 0)
