"""A small package with a known answer for every query, and the adapter over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalake_runners.adapters.protocol import CorpusView, Query
from evalake_runners.adapters.pydocs_mcp import ADAPTERS, PydocsSystem
from evalake_runners.adapters.setup import Setup
from evalake_warehouse.project import find_project_dir

FILES = {
    "shop/__init__.py": '"""A shop."""\n',
    "shop/prices.py": '''"""Prices and taxes."""


def add_tax(amount, rate):
    """Return a price with the value added tax on top."""
    return amount * (1 + rate)


def discount(amount, percent):
    """Lower a price by a percentage."""
    return amount - amount * percent / 100
''',
    "shop/checkout.py": '''"""Checkout."""

from shop.prices import add_tax, discount


class Basket:
    """Things a customer wants to buy."""

    def __init__(self):
        self.lines = []

    def put(self, name, amount):
        """Put one more thing into the basket."""
        self.lines.append((name, amount))

    def total(self):
        """Sum what is in here."""
        return discount(sum(amount for _, amount in self.lines), 5)


def invoice(basket, rate):
    """Write the bill."""
    return add_tax(basket.total(), rate)
''',
    "shop/storage.py": '''"""Saving things to disk."""

import json


def save_json(path, value):
    """Serialise a value to a file."""
    with open(path, "w") as file:
        json.dump(value, file)
''',
    "README.md": "# Shop\n\nAn example of a shop with a basket.\n",
}
DOCUMENTS = {
    "numpy.mean": "Compute the arithmetic mean along the specified axis.",
    "numpy.median": "Compute the median along the specified axis.",
    "pandas.merge": "Merge DataFrame objects with a database-style join.",
}

Make = Callable[..., PydocsSystem]


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes the home of whoever runs it."""
    home = tmp_path / "user-home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def files_corpus(tmp_path: Path) -> CorpusView:
    """The shop, as a corpus of files."""
    return write_corpus(tmp_path / "corpus", FILES)


@pytest.fixture
def documents_corpus(tmp_path: Path) -> CorpusView:
    """Three documentation rows."""
    root = tmp_path / "documents"
    root.mkdir()
    table = {"doc_id": list(DOCUMENTS), "text": list(DOCUMENTS.values())}
    pq.write_table(pa.table(table), root / "documents.parquet")
    return CorpusView("d" * 64, "documents", root, tuple(sorted(DOCUMENTS)))


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Make a system from keyword configuration, with configs/ and a folder of its own."""
    own = tmp_path / "configs"
    own.mkdir()

    def made(name: str = "pydocs-mcp", *, depth: int = 10, **config: Any) -> PydocsSystem:
        return make_system(own, name, depth=depth, **config)

    return made


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> tuple[CorpusView, Path]:
    """The shop and a finished lexical index of it, for tests that only search."""
    folder = tmp_path_factory.mktemp("shop")
    corpus = write_corpus(folder / "corpus", FILES)
    make_system(folder).index(corpus, folder / "index")
    return corpus, folder / "index"


def make_system(
    own: Path, name: str = "pydocs-mcp", *, depth: int = 10, **config: Any
) -> PydocsSystem:
    """A system whose configuration may name files in `own` and in the project's configs."""
    setup = Setup("d", "e", depth, 0, own / "lake", (own, find_project_dir() / "configs"))
    adapter = ADAPTERS[name]
    system = adapter.make(adapter.config_model(**config), setup)
    assert isinstance(system, PydocsSystem)
    return system


def write_corpus(root: Path, files: Mapping[str, str | bytes]) -> CorpusView:
    """Lay files out as the engine does."""
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return CorpusView("c" * 64, "files", root, tuple(sorted(files)))


def ask(text: str, depth: int = 10) -> Query:
    """A query as the engine hands it over."""
    return Query(task_id="t", text=text, depth=depth, seed=0)


def snapshot(root: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
