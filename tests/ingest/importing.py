"""Short hands to import files in tests, and to read what came of it in the lake."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pyarrow.parquet as pq
import pytest

from evalake_ingest.imports.beir import load_beir
from evalake_ingest.imports.commit import Imported, import_all
from evalake_ingest.imports.json_pairs import load_qrels as load_json_qrels
from evalake_ingest.imports.json_pairs import load_run as load_json_run
from evalake_ingest.imports.jsonl import JsonlFiles, load_dataset
from evalake_ingest.imports.jsonl_answers import load_answers
from evalake_ingest.imports.options import DatasetOptions, RankingOptions
from evalake_ingest.imports.trec import load_qrels, load_run
from evalake_ingest.originals.problems import Problems
from evalake_ingest.rankings.answers import Ranking
from evalake_ingest.records import Loaded
from evalake_warehouse.errors import DatasetError
from evalake_warehouse.project import Project

Found = TypeVar("Found")


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def jsonl(path: Path, *rows: dict[str, Any]) -> Path:
    return write(path, "".join(json.dumps(row) + "\n" for row in rows))


def read(project: Project, table: str) -> list[dict[str, Any]]:
    files = sorted((project.lake / table).glob("dataset=d/*/*.parquet"))
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def whole(load: Callable[[Problems], Found]) -> Found:
    """What a reader makes of files without a problem, else its error."""
    problems = Problems()
    found = load(problems)
    problems.refuse()
    return found


def refused(load: Callable[[Problems], object]) -> list[str]:
    """The problems of files, each with the name of its file instead of the path."""
    with pytest.raises(DatasetError) as raised:
        whole(load)
    return [
        f"{Path(one.where).name}: {one.what}" if one.where else one.what
        for one in raised.value.problems
    ]


def qrels(file: Path, **options: Any) -> Callable[[Problems], Loaded]:
    return lambda problems: load_qrels(file, DatasetOptions("d", **options), problems)


def trec_run(file: Path, **options: Any) -> Callable[[Problems], Ranking]:
    return lambda problems: load_run(file, RankingOptions("bm25", **options), problems)


def json_qrels(file: Path, **options: Any) -> Callable[[Problems], Loaded]:
    return lambda problems: load_json_qrels(file, DatasetOptions("d", **options), problems)


def json_run(file: Path, **options: Any) -> Callable[[Problems], Ranking]:
    return lambda problems: load_json_run(file, RankingOptions("mine", **options), problems)


def tasks(tasks: Path, gold: Path | None = None, **rest: Any) -> Callable[[Problems], Loaded]:
    options = DatasetOptions("d", **rest.pop("options", {}))
    files = JsonlFiles(tasks, gold, **rest)
    return lambda problems: load_dataset(files, options, problems)


def answers(file: Path, **options: Any) -> Callable[[Problems], Ranking]:
    names = options.pop("names", {})
    return lambda problems: load_answers(
        file, RankingOptions("mine", **options), problems, names=names
    )


def beir(folder: Path, split: str = "test", **options: Any) -> Callable[[Problems], Loaded]:
    return lambda problems: load_beir(folder, DatasetOptions("d", **options), problems, split=split)


def import_into(
    project: Project,
    dataset: Callable[[Problems], Loaded] | None,
    ranking: Callable[[Problems], Ranking] | None = None,
) -> Imported:
    """Import what two readers find, as the command does."""
    loaded = whole(dataset) if dataset else None
    ranked = whole(ranking) if ranking else None
    return import_all(project, "d", loaded, ranked, step=lambda _: None)
