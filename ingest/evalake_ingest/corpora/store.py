"""The corpora of a project on disk: one folder per corpus id, written whole or not at all.

corpora/<corpus_id>/corpus.json        what it is
                    files.parquet      path, sha256, n_bytes, n_lines, status, detail
                    symbols-*.parquet  definitions, as read by one set of rules
                    files/             the files (kind `files`), or
                    documents.parquet  doc_id, text (kind `documents`)
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from evalake_ingest.corpora.definitions import DEFINITION_RULES, DefinitionReader
from evalake_ingest.corpora.sources import FolderSource, is_absent
from evalake_ingest.corpora.symbols import Symbol
from evalake_ingest.names import fetch_hint
from evalake_ingest.records import CorpusDocument, CorpusSource, SkippedDocument
from evalake_warehouse.errors import DatasetError, UsageError
from evalake_warehouse.identity import corpus_id as hash_corpus
from evalake_warehouse.identity import sha256_text
from evalake_warehouse.project import Project
from evalake_warehouse.scratch import replacing, scratch_folder, telling_full_disk

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

ABSENT_CORPUS_ID = hash_corpus(())  # of every corpus that is not at hand


@dataclass(slots=True)
class CorpusFile:
    """One file or document, or one entry that was left out (`skipped_...`)."""

    path: str
    sha256: str
    n_bytes: int
    n_lines: int | None
    status: str
    detail: str | None = None
    n_files: int = 1  # more where a whole folder was left out

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
    # By the reading of a source that it was stored from; not known of one that was opened.
    left_out: tuple[CorpusFile, ...] = ()


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
    paths = tuple(file.path for file in read_files(project, corpus_id))
    root = folder / "files" if about["kind"] == "files" else folder
    return StoredCorpus(corpus_id, about["kind"], root, paths)


def _fetch_hint(project: Project, corpus_id: str) -> str | None:
    """The command that lays a corpus out again, by the dataset that it belongs to."""
    for file in (project.lake / "corpora").glob(f"dataset=*/run_date=*/{corpus_id}.parquet"):
        return fetch_hint(project, file.parent.parent.name.removeprefix("dataset="))
    return None


def read_files(project: Project, corpus_id: str) -> list[CorpusFile]:
    """Every file of a stored corpus, in path order.

    What was left out belongs to the source that was read, not to the content that is here.
    """
    table = pq.read_table(project.corpora / corpus_id / "files.parquet")
    files = (CorpusFile(**row) for row in table.to_pylist())
    return [file for file in files if file.stored]


def load_symbols(project: Project, corpus_id: str) -> list[Symbol]:
    """Definitions of a stored corpus; read again where another rule version wrote them."""
    folder = project.corpora / corpus_id
    cached = folder / f"symbols-{DEFINITION_RULES}.parquet"
    if not cached.exists():
        symbols = _read_all_symbols(folder / "files", read_files(project, corpus_id))
        with replacing(cached) as file:
            pq.write_table(_as_table(symbols, _SYMBOLS), file, compression="zstd")
    return [Symbol(**row) for row in pq.read_table(cached).to_pylist()]


def store_corpus(project: Project, source: CorpusSource) -> StoredCorpus:
    """Lay out a corpus under its content's id; a corpus that is there already stays as it is.

    Raises:
        DatasetError: the source has nothing that is corpus, with what it has instead.
    """
    project.corpora.mkdir(parents=True, exist_ok=True)
    if isinstance(source, FolderSource):
        source = replace(source, state=project.home)
    with (
        telling_full_disk(project.corpora),
        scratch_folder(project.corpora, ".", suffix=".tmp") as folder,
    ):
        entries = _write(source, folder)
        files = [file for file in entries if file.stored]
        left_out = tuple(file for file in entries if not file.stored)
        if not files and not is_absent(source):
            raise _is_empty(source, left_out)
        identity = hash_corpus((file.path, file.sha256) for file in files)
        final = project.corpora / identity
        if not (final / "corpus.json").exists():
            _finish(source, folder, files, identity)
            _move_into_place(folder, final)
    return replace(open_corpus(project, identity), left_out=left_out)


def count_left_out(left_out: Iterable[CorpusFile]) -> dict[str, int]:
    """Files by the reason that they were left out for, folders by what they hold."""
    counts: Counter[str] = Counter()
    for file in left_out:
        counts[file.status] += file.n_files
    return dict(sorted(counts.items()))


def _is_empty(source: CorpusSource, left_out: Sequence[CorpusFile]) -> DatasetError:
    told = ", ".join(f"{count} {status}" for status, count in count_left_out(left_out).items())
    example = f", such as {left_out[0].path}: {left_out[0].detail}" if left_out else ""
    return DatasetError(
        f"nothing in it is corpus ({told or 'it is empty'}{example})", where=source.origin
    )


def _finish(source: CorpusSource, folder: Path, files: list[CorpusFile], identity: str) -> None:
    if source.kind == "files":
        symbols = _read_all_symbols(folder / "files", files)
        cached = folder / f"symbols-{DEFINITION_RULES}.parquet"
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
                what = f"its place is taken: {error.strerror}"
                entry = SkippedDocument(entry.path, "skipped_duplicate", what)  # noqa: PLW2901
        files.append(_describe(entry))
    return files


def _write_documents(source: CorpusSource, target: Path) -> list[CorpusFile]:
    files: dict[str, CorpusFile] = {}
    repeated: list[CorpusFile] = []
    batch: list[tuple[str, str]] = []
    with pq.ParquetWriter(target, _DOCUMENTS, compression="zstd") as writer:
        for entry in source.documents():
            described = _describe(entry)
            if (first := files.get(entry.path)) is not None and described.stored:
                same = described.sha256 == first.sha256
                what = "the same text again" if same else "another text; the first one counts"
                repeated.append(_describe(SkippedDocument(entry.path, "skipped_duplicate", what)))
                continue
            if not described.stored:
                repeated.append(described)
                continue
            files[entry.path] = described
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
        return CorpusFile(
            entry.path, sha256_text(""), entry.n_bytes, None, entry.status, entry.detail,
            entry.n_files,
        )  # fmt: skip
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
    """Definitions of all files; notes on a file's row where they could not be read."""
    symbols: list[Symbol] = []
    with DefinitionReader(file.path for file in files) as reader:
        for file in files:
            if not reader.reads(file.path):
                continue
            read = reader.read(file.path, (root / file.path).read_bytes())
            file.status, file.detail = read.status, read.detail
            symbols += read.symbols
    return symbols


def _as_table(rows: Sequence[CorpusFile | Symbol], schema: pa.Schema) -> pa.Table:
    columns = {name: [getattr(row, name) for row in rows] for name in schema.names}
    return pa.table(columns, schema=schema)
