"""A small benchmark made by hand, for tests of everything after the loader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalake_ingest.corpora.sources import MemorySource
from evalake_ingest.records import DatasetInfo, Drop, GoldItem, Loaded, Qrel, Task
from evalake_warehouse.relevance.fingerprint import fingerprint_source

FILES = {
    "src/pkg/__init__.py": "",
    "src/pkg/a.py": "class Box:\n    def load(self):\n        return open('x')\n\n"
    "    def size(self):\n"
    "        return 1\n",
    "src/pkg/b.py": "def run():\n    return 2\n",
    "README.md": "Boxes.\n",
}
RUN = fingerprint_source(FILES["src/pkg/b.py"])


def info(**changes: Any) -> DatasetInfo:
    values: dict[str, Any] = {
        "name": "toy", "revision": "1", "loader_version": "1", "source": "here",
        "licence": "none", "citation": "none", "primary_level": "symbol",
        "primary_metric": "recall@10", "default_split": "dev", "strata_label": "kind",
    }  # fmt: skip
    return DatasetInfo(**(values | changes))


def symbol_item(path: str, symbol: str, qualified: str, lines: tuple[int, int]) -> GoldItem:
    return GoldItem(f"{path}::{symbol}", "symbol", (Qrel("symbol", qualified, path, *lines),))


LOAD = symbol_item("src/pkg/a.py", "Box.load", "pkg.a.Box.load", (2, 3))
BOX = symbol_item("src/pkg/a.py", "Box", "pkg.a.Box", (1, 6))
RUN_BY_CODE = GoldItem("src/pkg/b.py::run", "symbol", (Qrel("fingerprint", key=RUN),))


def task(task_id: str, *gold: GoldItem, query: str = "what loads?") -> Task:
    return Task(task_id, "question", query, "files", gold, stratum="question")


def loaded(
    tasks: Sequence[Task],
    drops: Sequence[Drop] = (),
    *,
    rows_read: int | None = None,
    **changes: Any,
) -> Loaded:
    corpus = MemorySource("files", "by hand", FILES, repo="o/pkg", commit="0" * 40)
    n_rows = len(tasks) + len(drops) if rows_read is None else rows_read
    return Loaded(info(**changes), (corpus,), tasks, drops, n_rows)
