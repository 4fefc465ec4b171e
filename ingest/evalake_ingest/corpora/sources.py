"""Corpus sources: a folder, an archive, content in memory, rows of documentation."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalake_ingest.corpora.archives import read_archive
from evalake_ingest.corpora.paths import MAX_FILE_BYTES, clean_path, is_corpus_text
from evalake_ingest.records import CorpusDocument, CorpusSource, SkippedDocument

Entry = CorpusDocument | SkippedDocument


@dataclass(frozen=True)
class MemorySource:
    """Files that are in memory already, by path."""

    name: str
    origin: str
    contents: Mapping[str, str]
    repo: str | None = None
    commit: str | None = None
    kind: Literal["files", "documents"] = "files"

    def documents(self) -> Iterator[Entry]:
        """Every file."""
        for path, text in self.contents.items():
            yield CorpusDocument(path, text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True)
class DocumentRows:
    """Documentation rows, streamed: (doc id, text)."""

    name: str
    origin: str
    rows: Callable[[], Iterator[tuple[str, str]]]
    repo: str | None = None
    commit: str | None = None
    kind: Literal["files", "documents"] = "documents"

    def documents(self) -> Iterator[Entry]:
        """Every row."""
        for doc_id, text in self.rows():
            yield CorpusDocument(doc_id, text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True)
class ArchiveSource:
    """A tarball or zip of one repository at its pin; a single top folder is left out of paths."""

    name: str
    origin: str
    archive: Path
    repo: str | None = None
    commit: str | None = None
    keep: Callable[[str], bool] = is_corpus_text
    kind: Literal["files", "documents"] = "files"

    def documents(self) -> Iterator[Entry]:
        """Every file of a kept suffix, and every entry that is refused."""
        return read_archive(self.archive, keep=self.keep)


@dataclass(frozen=True)
class FolderSource:
    """A folder on disk. Links are never followed: they may lead out of it, or in a circle."""

    name: str
    origin: str
    root: Path
    repo: str | None = None
    commit: str | None = None
    keep: Callable[[str], bool] = is_corpus_text
    kind: Literal["files", "documents"] = "files"

    def documents(self) -> Iterator[Entry]:
        """Every regular file of a kept suffix, and every entry that is refused."""
        pending = [self.root]
        while pending:
            folder = pending.pop()
            with os.scandir(folder) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    raw = Path(entry.path).relative_to(self.root).as_posix()
                    if entry.is_dir(follow_symlinks=False):
                        if self.keep(f"{raw}/kept.py"):  # a skipped folder is not walked
                            pending.append(Path(entry.path))
                    elif self.keep(raw):
                        yield _read_entry(raw, Path(entry.path))


def _read_entry(raw: str, file: Path) -> Entry:
    shown = raw.encode("utf-8", "backslashreplace").decode()
    path = clean_path(raw)
    if path is None:
        return SkippedDocument(shown, "skipped_path")
    try:
        status = file.lstat()
        if stat.S_ISLNK(status.st_mode):
            return SkippedDocument(shown, "skipped_link", str(file.readlink()))
        if not stat.S_ISREG(status.st_mode):
            return SkippedDocument(shown, "skipped_special")
        if status.st_size > MAX_FILE_BYTES:
            return SkippedDocument(shown, "skipped_size", f"{status.st_size} bytes")
        return CorpusDocument(path, file.read_bytes())
    except OSError as error:
        return SkippedDocument(shown, "skipped_special", error.strerror)


def source_paths(source: CorpusSource) -> frozenset[str]:
    """Paths of a source's files, for loaders that resolve citations."""
    return frozenset(
        entry.path for entry in source.documents() if isinstance(entry, CorpusDocument)
    )
