"""Where the parts of a BEIR dataset are in a folder, and their rows, whatever the files are."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from evalake_ingest.originals.json_text import read_objects
from evalake_ingest.originals.problems import Problems
from evalake_ingest.originals.source_files import Source

_PACKED = ("", ".gz", ".bz2", ".xz", ".zst", ".lz4")
_QRELS_FOLDERS = ("qrels", "data", "default")
_QRELS = ("query-id", "corpus-id", "score")
_SHARD = re.compile(r"-\d+-of-(\d+)\.parquet$")
_QRELS_NAMES = {"query_id": "query-id", "corpus_id": "corpus-id"}
_COLUMNS = {"_id", "id", "title", "text", *_QRELS, *_QRELS_NAMES}


@dataclass(frozen=True, slots=True)
class BeirFiles:
    """The files of each part; several where Parquet is cut into shards."""

    corpus: tuple[Path, ...]
    queries: tuple[Path, ...]
    qrels: tuple[Path, ...]

    @classmethod
    def find(cls, folder: Path, split: str, problems: Problems) -> BeirFiles:
        """The files of a split; parts that are missing are told, with the splits that are there."""
        corpus, queries = _part(folder, "corpus", split), _part(folder, "queries", split)
        for name, found in (("corpus", corpus), ("queries", queries)):
            if not found:
                what = f"no {name}.jsonl and no {name}/*.parquet"
                problems.add(str(folder), what)
        qrels = _split_files(folder, split)
        if not qrels:
            there = _split_files(folder, None)
            told = f"; qrels has {', '.join(file.name for file in there)}" if there else ""
            hint = f"--split {quote(_split_of(there[0]))}" if there else None
            problems.add(str(folder), f"no qrels of split {split!r}{told}", hint=hint)
        for found in (corpus, queries, qrels):
            _require_all_shards(found, problems)
        return cls(corpus, queries, qrels)


class Rows:
    """Rows of some files of one kind, numbered through; hashed on the way."""

    def __init__(self, files: Sequence[Path], problems: Problems) -> None:
        self._files = files
        self._problems = problems
        self._starts: list[tuple[int, Path]] = []  # number before the first row of each file
        self._hashes: list[str] = []

    @property
    def sha256(self) -> str:
        """Hash of the content of all files that were read."""
        return hashlib.sha256("".join(self._hashes).encode()).hexdigest()

    def place(self, number: int) -> str:
        """Where a row is."""
        start, file = next(found for found in reversed(self._starts) if found[0] < number)
        mark = ": row " if file.suffix == ".parquet" else ":"
        return f"{file}{mark}{number - start}"

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        self._starts, self._hashes = [], []
        last = 0
        for file in self._files:
            start = last
            self._starts.append((start, file))
            for number, row in self._rows_of(file):
                last = start + number
                yield last, row

    def _rows_of(self, file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
        if file.suffix == ".parquet":
            yield from self._parquet(file)
            return
        source = Source(file, self._problems)
        if _is_table(file):
            yield from _tab_separated(source, self._problems)
        else:
            yield from read_objects(source, self._problems)
        self._hashes.append(source.sha256)

    def _parquet(self, file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
        number = 0
        try:
            opened = pq.ParquetFile(file)
            columns = [name for name in opened.schema_arrow.names if name in _COLUMNS]
            for batch in opened.iter_batches(batch_size=4_096, columns=columns):
                for row in batch.to_pylist():
                    number += 1
                    yield number, {_QRELS_NAMES.get(name, name): row[name] for name in row}
            with file.open("rb") as content:
                self._hashes.append(hashlib.file_digest(content, "sha256").hexdigest())
        except UnicodeDecodeError as error:
            what = f"not UTF-8 ({error.reason}), in one of the rows from {number + 1} on"
            self._problems.add(str(file), what)
        except (pa.ArrowException, OSError) as error:
            reason = str(error).partition("\n")[0]
            self._problems.add(str(file), f"cannot be read as Parquet: {reason}")


def _part(folder: Path, name: str, split: str) -> tuple[Path, ...]:
    for ending in _PACKED:
        if (file := folder / f"{name}.jsonl{ending}").is_file():
            return (file,)
    found = sorted([*folder.glob(f"{name}/*.parquet"), *folder.glob(f"{name}*.parquet")])
    # Some hubs cut the corpus by split too; a file named for another split is not of this one.
    of_split = [file for file in found if _split_of(file) == split]
    return tuple(of_split or found)


def _split_files(folder: Path, split: str | None) -> tuple[Path, ...]:
    for name in _QRELS_FOLDERS:
        for kind in (".tsv", ".jsonl", ".parquet"):
            found = [
                file
                for file in sorted((folder / name).glob(f"*{kind}*"))
                if file.is_file() and split in {None, _split_of(file)}
            ]
            if found:
                return tuple(found) if kind == ".parquet" or split is None else (found[0],)
    return ()


def _split_of(file: Path) -> str:
    """`test`, of `test.tsv`, `test.tsv.gz` and `test-00000-of-00001.parquet`."""
    stem = file.name.partition(".")[0]
    start, _, end = stem.partition("-")
    return start if end[:1].isdigit() else stem


def _require_all_shards(files: Sequence[Path], problems: Problems) -> None:
    for file in files:
        shard = _SHARD.search(file.name)
        if shard is not None and len(files) != int(shard[1]):
            problems.add(str(file), f"{len(files)} of {int(shard[1])} shards are here")
            return


def _is_table(file: Path) -> bool:
    return ".tsv" in file.suffixes


def _tab_separated(source: Source, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in source.lines():
        fields = line.split("\t")
        if number == 1 and (fields[-1].strip() == "score" or fields[0] in {"query-id", "query_id"}):
            continue  # the header
        if len(fields) == len(_QRELS):
            yield number, dict(zip(_QRELS, (*fields[:2], fields[2].strip()), strict=True))
        else:
            what = f"{len(fields)} fields; expected: query-id corpus-id score, with tabs"
            problems.add(source.place(number), what)
