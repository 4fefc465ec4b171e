"""Lake rows of corpora: their files and definitions, and what their sources have besides.

Files and definitions belong to the content, and are written once for a dataset. What was left out
belongs to a reading of a source for one edition: two sources of one content may differ in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from evalake_ingest.corpora.definitions import rule_of
from evalake_ingest.corpora.store import CorpusFile, load_symbols, read_files
from evalake_ingest.corpora.symbols import Symbol
from evalake_ingest.records import CorpusSource
from evalake_warehouse.lake.writer import write_columns
from evalake_warehouse.project import Project
from evalake_warehouse.relevance.grammars import has_definitions, language_of

Columns = dict[str, list[Any]]


def write_corpus(
    project: Project, lake: Path, source: CorpusSource, corpus_id: str, *, dataset: str
) -> None:
    """Write what a dataset's corpus is made of to a lake that has none of it."""
    now = datetime.now(UTC)
    files = read_files(project, corpus_id)
    symbols = load_symbols(project, corpus_id) if source.kind == "files" else []
    rule = getattr(source, "rule", None)
    about: Columns = {
        "dataset": [dataset], "corpus_id": [corpus_id], "kind": [source.kind],
        "origin": [source.origin], "n_files": [len(files)],
        "n_bytes": [sum(file.n_bytes for file in files)], "n_symbols": [len(symbols)],
        "created_at": [now.replace(tzinfo=None)], "repo": [source.repo],
        "commit": [source.commit], "rule": [rule.words if rule else None],
    }  # fmt: skip
    tables = [
        ("corpus_files", corpus_id, _of_files(dataset, corpus_id, files, symbols, source.kind)),
        ("corpora", corpus_id, about),
    ]
    by_rule: dict[str, list[Symbol]] = {rule_of("x.py"): []}
    for symbol in symbols:
        by_rule.setdefault(rule_of(symbol.path), []).append(symbol)
    for version, some in by_rule.items():
        # Another fingerprint rule reads the same corpus anew, beside what an earlier one read.
        stem = f"{corpus_id}-{version}"
        tables.append(("corpus_symbols", stem, _of_symbols(dataset, corpus_id, some, version)))
    for table, stem, columns in tables:
        write_columns(lake, table, columns, dataset=dataset, run_date=now.date(), stem=stem)


def write_left_out(
    known: Path,
    lake: Path,
    left_out: Sequence[CorpusFile],
    corpus_id: str,
    *,
    dataset: str,
    edition: str,
) -> None:
    """Write what a reading of a source left out, unless the last reading left out the same.

    Args:
        known: the project's lake, which has the earlier readings.
        lake: where to write.
    """
    number, before = last_reading(known, dataset, corpus_id, edition)
    rows = sorted(left_out, key=lambda file: (file.path, file.status))
    told = [(file.path, file.status, file.detail, file.n_files) for file in rows]
    if told == [(row["path"], row["status"], row["detail"], row["n_files"]) for row in before]:
        return
    n_rows = len(rows)
    columns: Columns = {
        **_named(dataset, corpus_id, rows),
        "language": [None] * n_rows,
        "n_symbols": [None] * n_rows,
        "edition": [edition] * n_rows,
        "reading": [number + 1] * n_rows,
        "n_files": [file.n_files for file in rows],
    }
    stem = f"{_left_out_stem(corpus_id, edition)}{number + 1}"
    today = datetime.now(UTC).date()
    write_columns(lake, "corpus_files", columns, dataset=dataset, run_date=today, stem=stem)


def last_reading(
    lake: Path, dataset: str, corpus_id: str, edition: str
) -> tuple[int, list[dict[str, Any]]]:
    """The number of the last reading of an edition's corpus, and what it left out, by path."""
    stem = _left_out_stem(corpus_id, edition)
    folder = lake / "corpus_files" / f"dataset={dataset}"
    readings = {
        int(file.stem.removeprefix(stem)): file for file in folder.glob(f"*/{stem}*.parquet")
    }
    if not readings:
        return 0, []
    number = max(readings)
    return number, pq.ParquetFile(readings[number]).read().to_pylist()


def _left_out_stem(corpus_id: str, edition: str) -> str:
    return f"{corpus_id}-{edition}-"


def _named(dataset: str, corpus_id: str, files: Sequence[CorpusFile]) -> Columns:
    return {
        "dataset": [dataset] * len(files), "corpus_id": [corpus_id] * len(files),
        "path": [file.path for file in files], "sha256": [file.sha256 for file in files],
        "n_bytes": [file.n_bytes for file in files], "status": [file.status for file in files],
        "n_lines": [file.n_lines for file in files], "detail": [file.detail for file in files],
    }  # fmt: skip


def _of_files(
    dataset: str, corpus_id: str, files: Sequence[CorpusFile], symbols: Sequence[Symbol], kind: str
) -> Columns:
    languages = [language_of(file.path) if kind == "files" else None for file in files]
    counts = Counter(symbol.path for symbol in symbols)
    n_symbols = [
        counts[file.path] if has_definitions(language) else None
        for file, language in zip(files, languages, strict=True)
    ]
    return {
        **_named(dataset, corpus_id, files),
        "language": languages,
        "n_symbols": n_symbols,
        "edition": [None] * len(files),
        "reading": [None] * len(files),
        "n_files": [1] * len(files),
    }


def _of_symbols(dataset: str, corpus_id: str, symbols: Sequence[Symbol], rule: str) -> Columns:
    return {
        "dataset": [dataset] * len(symbols), "corpus_id": [corpus_id] * len(symbols),
        "path": [symbol.path for symbol in symbols],
        "qualified_name": [symbol.qualified_name for symbol in symbols],
        "symbol": [symbol.symbol for symbol in symbols],
        "symbol_kind": [symbol.kind for symbol in symbols],
        "start_line": [symbol.start_line for symbol in symbols],
        "end_line": [symbol.end_line for symbol in symbols],
        "fingerprint": [symbol.fingerprint for symbol in symbols],
        "rule_version": [rule] * len(symbols),
    }  # fmt: skip
