"""The corpora of a project on disk: one folder per corpus id, written whole or not at all.

corpora/<corpus_id>/corpus.json        what it is
                    files.parquet      path, sha256, n_bytes, n_lines, status, detail
                    symbols.parquet    definitions, as read by one fingerprint rule
                    files/             the files (kind `files`), or
                    documents.parquet  doc_id, text (kind `documents`)
"""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from evalake_ingest.corpora.symbols import Symbol, module_name, package_dirs, read_symbols
from evalake_ingest.names import fetch_hint
from evalake_ingest.records import CorpusDocument, CorpusSource, SkippedDocument
from evalake_warehouse.errors import UsageError
from evalake_warehouse.identity import corpus_id as hash_corpus
from evalake_warehouse.identity import sha256_text
from evalake_warehouse.project import Project
from evalake_warehouse.relevance.fingerprint import FINGERPRINT_RULE

_DOCUMENTS = pa.schema([("doc_id", pa.string()), ("text", pa.string())])
_FILES = pa.schema(
    [
        ("path", pa.string()), ("sha256", pa.string()), ("n_bytes", pa.int64()),
        ("n_lines", pa.int64()), ("status", pa.string()), ("detail", pa.string()),
    ]
)  # fmt: skip
_SYMBOLS = pa.schema(
    [
        (field.name, pa.int64() if field.name.endswith("_line") else pa.string())
        for field in fields(Symbol)
    ]
)
_BATCH = 2_000


@dataclass(slots=True)
class CorpusFile:
    """One file or document, or one entry that was left out (`skipped_...`)."""

    path: str
    sha256: str
    n_bytes: int
    n_lines: int | None
    status: str
    detail: str | None = None

    @property
    def stored(self) -> bool:
        """Whether it is part of the corpus."""
        return not self.status.startswith("skipped_")


@dataclass(frozen=True, slots=True)
class StoredCorpus:
    """A corpus as laid out on disk."""

    corpus_id: str
    kind: str
    root: Path  # holds the files at their paths, or `documents.parquet`
    paths: tuple[str, ...]  # sorted; doc ids for documents


def open_corpus(project: Project, corpus_id: str) -> StoredCorpus:
    """A corpus that an ingest stored.

    Raises:
        UsageError: there is none of that id.
    """
    folder = project.corpora / corpus_id
    if not (folder / "corpus.json").is_file():
        raise UsageError(
            f"corpus {corpus_id[:12]} is not laid out here", where=str(project.corpora),
            hint=_fetch_hint(project, corpus_id),
        )  # fmt: skip
    about = json.loads((folder / "corpus.json").read_text("utf-8"))
    paths = tuple(file.path for file in read_files(project, corpus_id) if file.stored)
    root = folder / "files" if about["kind"] == "files" else folder
    return StoredCorpus(corpus_id, about["kind"], root, paths)


def _fetch_hint(project: Project, corpus_id: str) -> str | None:
    """The command that lays a corpus out again, by the dataset that it belongs to."""
    for file in (project.lake / "corpora").glob(f"dataset=*/run_date=*/{corpus_id}.parquet"):
        return fetch_hint(project, file.parent.parent.name.removeprefix("dataset="))
    return None


def read_files(project: Project, corpus_id: str) -> list[CorpusFile]:
    """Every file of a stored corpus, in path order, with the entries that were left out."""
    table = pq.read_table(project.corpora / corpus_id / "files.parquet")
    return [CorpusFile(**row) for row in table.to_pylist()]


def load_symbols(project: Project, corpus_id: str) -> list[Symbol]:
    """Definitions of a stored corpus; read again where another rule version wrote them."""
    folder = project.corpora / corpus_id
    cached = folder / f"symbols-{FINGERPRINT_RULE}.parquet"
    if not cached.exists():
        files = read_files(project, corpus_id)
        symbols = _read_all_symbols(folder / "files", files)
        temporary = cached.with_name(f"{cached.name}.{uuid.uuid4().hex}.tmp")
        pq.write_table(_as_table(symbols, _SYMBOLS), temporary, compression="zstd")
        temporary.replace(cached)
    return [Symbol(**row) for row in pq.read_table(cached).to_pylist()]


def store_corpus(project: Project, source: CorpusSource) -> StoredCorpus:
    """Lay out a corpus under its content's id; a corpus that is there already stays as it is."""
    project.corpora.mkdir(parents=True, exist_ok=True)
    with _scratch(project.corpora) as folder:
        files = _write(source, folder)
        identity = hash_corpus((file.path, file.sha256) for file in files if file.stored)
        final = project.corpora / identity
        if not (final / "corpus.json").exists():
            _finish(source, folder, files, identity)
            _move_into_place(folder, final)
    return open_corpus(project, identity)


def _finish(source: CorpusSource, folder: Path, files: list[CorpusFile], identity: str) -> None:
    if source.kind == "files":
        symbols = _read_all_symbols(folder / "files", files)
        cached = folder / f"symbols-{FINGERPRINT_RULE}.parquet"
        pq.write_table(_as_table(symbols, _SYMBOLS), cached, compression="zstd")
    pq.write_table(_as_table(files, _FILES), folder / "files.parquet", compression="zstd")
    about = {
        "corpus_id": identity, "kind": source.kind, "origin": source.origin, "repo": source.repo,
        "commit": source.commit,
    }  # fmt: skip
    (folder / "corpus.json").write_text(json.dumps(about, indent=1), "utf-8")


def _move_into_place(folder: Path, final: Path) -> None:
    try:
        folder.rename(final)
    except OSError:
        if not (final / "corpus.json").exists():  # else another process was first, with the same
            raise


@contextmanager
def _scratch(parent: Path) -> Iterator[Path]:
    folder = parent / f".{uuid.uuid4().hex}.tmp"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write(source: CorpusSource, folder: Path) -> list[CorpusFile]:
    if source.kind == "files":
        files = _write_files(source, folder / "files")
    else:
        files = _write_documents(source, folder / "documents.parquet")
    return sorted(files, key=lambda file: file.path)


def _write_files(source: CorpusSource, root: Path) -> list[CorpusFile]:
    root.mkdir()
    files = []
    for entry in source.documents():
        if isinstance(entry, CorpusDocument):
            target = root / entry.path
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as file:  # refuses a second spelling where case is ignored
                    file.write(entry.content)
            except (FileExistsError, NotADirectoryError) as error:
                entry = SkippedDocument(entry.path, "skipped_duplicate", error.strerror)  # noqa: PLW2901
        files.append(_describe(entry))
    return files


def _write_documents(source: CorpusSource, target: Path) -> list[CorpusFile]:
    files: dict[str, CorpusFile] = {}
    repeated: list[CorpusFile] = []
    batch: list[tuple[str, str]] = []
    with pq.ParquetWriter(target, _DOCUMENTS, compression="zstd") as writer:
        for entry in source.documents():
            if entry.path in files:
                repeated.append(_describe(SkippedDocument(entry.path, "skipped_duplicate")))
                continue
            files[entry.path] = _describe(entry)
            if isinstance(entry, CorpusDocument):
                batch.append((entry.path, entry.content.decode("utf-8", "replace")))
            if len(batch) == _BATCH:
                _flush(writer, batch)
        _flush(writer, batch)
    return [*files.values(), *repeated]


def _flush(writer: pq.ParquetWriter, batch: list[tuple[str, str]]) -> None:
    columns: dict[str, Any] = {
        "doc_id": [doc_id for doc_id, _ in batch], "text": [text for _, text in batch],
    }  # fmt: skip
    writer.write_table(pa.table(columns, schema=_DOCUMENTS))
    batch.clear()


def _describe(entry: CorpusDocument | SkippedDocument) -> CorpusFile:
    if isinstance(entry, SkippedDocument):
        return CorpusFile(entry.path, sha256_text(""), 0, None, entry.status, entry.detail)
    content = entry.content
    n_lines = content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
    digest = hashlib.sha256(content).hexdigest()
    status, detail = "ok", None
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        status, detail = "undecodable", str(error)
    return CorpusFile(entry.path, digest, len(content), n_lines, status, detail)


def _read_all_symbols(root: Path, files: list[CorpusFile]) -> list[Symbol]:
    """Symbols of the corpus's Python files; notes on each file's row what could not be read."""
    python = [file for file in files if file.stored and file.path.endswith(".py")]
    packages = package_dirs(file.path for file in python)
    symbols: list[Symbol] = []
    for file in python:
        content = (root / file.path).read_bytes()
        read = read_symbols(file.path, content, module=module_name(file.path, packages))
        file.status, file.detail = read.status, read.detail
        symbols += read.symbols
    return symbols


def _as_table(rows: Sequence[CorpusFile | Symbol], schema: pa.Schema) -> pa.Table:
    columns = {name: [getattr(row, name) for row in rows] for name in schema.names}
    return pa.table(columns, schema=schema)
