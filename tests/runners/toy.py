"""A toy dataset made with the real ingest, and a way to run the real command on it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import duckdb

from evalake_ingest.editions.pipeline import ingest
from evalake_ingest.records import CorpusDocument, DatasetInfo, GoldItem, Loaded, Qrel, Task
from evalake_warehouse.lake.reader import list_lake, relation_sql
from evalake_warehouse.project import Project

ROOT = Path(__file__).resolve().parents[2]
SYSTEMS = Path(__file__).resolve().parent / "systems_under_test"
PACKAGES = ("cli", "ingest", "reports", "runners", "warehouse")
PYTHONPATH = [*(str(ROOT / part) for part in PACKAGES), str(SYSTEMS)]


@dataclass(frozen=True)
class ToyCorpus:
    """Files or documents given as {path: content}."""

    content: dict[str, bytes]
    name: str = "toy"
    kind: Literal["files", "documents"] = "files"
    origin: str = "made for a test"
    repo: str | None = "toy/toy"
    commit: str | None = None

    def documents(self) -> Iterator[CorpusDocument]:
        for path, content in self.content.items():
            yield CorpusDocument(path, content)


def toy_files(n_modules: int = 12) -> dict[str, bytes]:
    files = {
        f"pkg/mod_{number:02d}.py": (
            f'"""Module {number}."""\n\n\ndef handle_topic{number}(value):\n'
            f'    """Handle topic{number} of the toy."""\n    return value + {number}\n'
        ).encode()
        for number in range(n_modules)
    }
    return {"pkg/__init__.py": b"", "README.md": b"# Toy\n\nA toy corpus.\n", **files}


def ingest_toy(
    project: Project,
    *,
    n_tasks: int = 12,
    corpora: list[ToyCorpus] | None = None,
    name: str = "toy",
    grade: int = 1,
    wordings: Mapping[int, str] | None = None,
    stripped: Mapping[int, str] | None = None,
) -> None:
    """A dataset whose task N is answered by module N (of the corpus N modulo their number).

    Args:
        grade: of every gold item.
        wordings: questions that are worded otherwise, by the task's number.
        stripped: a second wording of some questions.
    """
    sources = corpora or [ToyCorpus(toy_files())]
    others = stripped or {}

    def task(number: int) -> Task:
        corpus = sources[number % len(sources)]
        module = number % 12
        path = f"pkg/mod_{module:02d}.py" if corpus.kind == "files" else f"doc-{module}"
        relation = Qrel("file", path=path) if corpus.kind == "files" else Qrel("doc_id", key=path)
        level: Any = "file" if corpus.kind == "files" else "doc"
        return Task(
            task_id=f"task-{number:05d}",
            kind="question",
            query=(wordings or {}).get(number, f"Where is topic{module} handled?"),
            query_variants={"stripped": others[number]} if number in others else {},
            corpus=corpus.name,
            gold=(GoldItem(f"{level}:{path}", level, (relation,), grade=grade),),
            repo="toy/even" if number % 2 == 0 else "toy/odd",
        )

    info = DatasetInfo(
        name=name, revision="r1", loader_version="1", source="made for a test", licence="none",
        citation="none", primary_level="file" if sources[0].kind == "files" else "doc",
        primary_metric="recall@5", default_split="dev",
    )  # fmt: skip
    tasks = [task(number) for number in range(n_tasks)]
    ingest(project, Loaded(info, tuple(sources), tasks, (), n_tasks), check=None)


def rows(project: Project, table: str, select: str = "*") -> list[dict[str, Any]]:
    """Rows of one lake table, read from its files."""
    relation = relation_sql(table, list_lake(project.home).paths(table))
    result = duckdb.connect().execute(f"select {select} from ({relation})")
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


def environment(project: Project, **extra: str) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(PYTHONPATH),
        "EVALAKE_HOME": str(project.home),
        "EVALAKE_PROJECT_DIR": str(project.data_dir),
        **extra,
    }


def command(*arguments: str) -> list[str]:
    code = "from evalake_cli.main import main; main()"
    return [sys.executable, "-c", code, *arguments]


def evalake(project: Project, *arguments: str, cwd: Path | None = None, **extra: str) -> Ended:
    """Run the command in a process of its own, as a user does."""
    done = subprocess.run(
        command(*arguments), env=environment(project, **extra), cwd=cwd or project.home,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return Ended(done.returncode, done.stdout, done.stderr)


@dataclass
class Sweep:
    """A sweep file in a test's folder."""

    folder: Path
    text: str
    name: str = "sweep.yaml"
    path: Path = field(init=False)

    def __post_init__(self) -> None:
        self.path = self.folder / self.name
        self.path.write_text(self.text, encoding="utf-8")
