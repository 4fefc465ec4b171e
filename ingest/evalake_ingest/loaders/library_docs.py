"""The documentation datastore of CodeRAG-Bench: one row per documented thing, by doc id."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from evalake_ingest.corpora.sources import DocumentRows
from evalake_ingest.originals.problems import file_sha256
from evalake_ingest.records import LoadOptions
from evalake_warehouse.errors import DatasetError

NAME = "library-documentation"
_FILES = ("library_docs.parquet", "library_docs.json", "library_docs.jsonl")
_COLUMNS = ("doc_id", "doc_content")
_ORIGINAL_ROWS = 34_003
_BATCH_ROWS = 250
_READ_BYTES = 1 << 20  # at a time: the published file is one row group

REBUILT_CAVEAT = (
    "The documentation datastore at hand is not the published file of 34,003 rows: ids agree, "
    "distractors differ, so scores are not comparable with published ones."
)


@dataclass(frozen=True)
class Datastore:
    """The datastore's file; rows are streamed."""

    file: Path
    sha256: str

    def rows(self) -> Iterator[tuple[str, str]]:
        """(doc id, text) of every row.

        Raises:
            DatasetError: truncated, or of another schema.
        """
        if self.file.suffix == ".parquet":
            yield from _parquet_rows(self.file)
        else:
            yield from _json_rows(self.file)

    def corpus(self, prefixes: Sequence[str] = ()) -> DocumentRows:
        """All rows, or those of some libraries."""
        told = f", only {', '.join(prefixes)}" if prefixes else ""
        return DocumentRows(
            name=NAME,
            origin=f"{NAME}, sha256 {self.sha256[:16]}{told}",
            rows=self.rows,
            only=tuple(prefixes),
        )

    @property
    def caveats(self) -> tuple[str, ...]:
        """Caveats to print beside scores on this datastore."""
        if self.file.suffix == ".parquet":
            n_rows = pq.ParquetFile(self.file).metadata.num_rows
        else:
            with self.file.open("rb") as opened:
                n_rows = sum(1 for line in opened if line.strip())
        return () if n_rows == _ORIGINAL_ROWS else (REBUILT_CAVEAT,)


def open_datastore(options: LoadOptions, dataset: str) -> Datastore:
    """Find the datastore below or beside --from, else in the cache.

    Raises:
        DatasetError: it is in neither; it has no pinned address to fetch it from.
    """
    folders = [options.cache / NAME]
    if options.source_dir is not None:
        source = options.source_dir
        folders = [source, source / NAME, source.resolve().parent / NAME, *folders]
    for folder in folders:
        for name in _FILES:
            if (folder / name).is_file():
                file = folder / name
                return Datastore(file, file_sha256(file))
    raise DatasetError(
        f"{NAME} is missing; put {_FILES[0]} or {_FILES[1]} (columns {', '.join(_COLUMNS)}) into "
        f"DIR, DIR/{NAME} or {options.cache / NAME}",
        where=dataset,
        hint=f"evalake ingest {dataset} --from DIR",
    )


def _parquet_rows(file: Path) -> Iterator[tuple[str, str]]:
    import pyarrow as pa

    try:
        opened = pq.ParquetFile(file, buffer_size=_READ_BYTES)
        missing = [name for name in _COLUMNS if name not in opened.schema_arrow.names]
        if missing:
            raise DatasetError(f"lacks columns {', '.join(missing)}", where=str(file))
        batches = opened.iter_batches(_BATCH_ROWS, columns=list(_COLUMNS), use_threads=False)
        for batch in batches:
            ids, texts = (batch.column(name).to_pylist() for name in _COLUMNS)
            yield from zip(ids, texts, strict=True)
    except (pa.ArrowInvalid, OSError) as error:
        raise DatasetError(f"truncated or not Parquet: {error}", where=str(file)) from error


def _json_rows(file: Path) -> Iterator[tuple[str, str]]:
    with file.open(encoding="utf-8") as opened:
        for number, line in enumerate(opened, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                yield str(row["doc_id"]), str(row["doc_content"])
            except (json.JSONDecodeError, KeyError, TypeError) as error:
                what = f"expected {{{', '.join(_COLUMNS)}}}: {error}"
                raise DatasetError(what, where=f"{file}:{number}") from error
