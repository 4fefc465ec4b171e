"""Corpus sources: a folder, an archive, content in memory, rows of documentation."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalake_ingest.corpora.archives import read_archive
from evalake_ingest.corpora.paths import clean_path
from evalake_ingest.corpora.rules import SUFFIXES, TEXT, CorpusRule, Folder, Reason
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
    only: tuple[str, ...] = ()  # libraries, which doc ids begin with; none: all rows
    repo: str | None = None
    commit: str | None = None
    kind: Literal["files", "documents"] = "documents"

    def documents(self) -> Iterator[Entry]:
        """Every row, and how many of each library were left out."""
        others: Counter[str] = Counter()
        for doc_id, text in self.rows():
            library = doc_id.partition(".")[0]
            if self.only and library not in self.only:
                others[library] += 1
                continue
            yield CorpusDocument(doc_id, text.encode("utf-8", "surrogatepass"))
        for library, count in sorted(others.items()):
            told = f"not of {', '.join(self.only)}"
            yield SkippedDocument(f"{library}/", "skipped_not_included", told, n_files=count)


@dataclass(frozen=True)
class ArchiveSource:
    """A tarball or zip of one repository at its pin; a single top folder is left out of paths."""

    name: str
    origin: str
    archive: Path
    repo: str | None = None
    commit: str | None = None
    rule: CorpusRule = SUFFIXES
    kind: Literal["files", "documents"] = "files"

    def documents(self) -> Iterator[Entry]:
        """Every file that the rule takes, and what is left out."""
        return read_archive(self.archive, self.rule)


@dataclass(frozen=True)
class FolderSource:
    """A folder on disk. Links are never followed: they may lead out of it, or in a circle."""

    name: str
    origin: str
    root: Path
    repo: str | None = None
    commit: str | None = None
    rule: CorpusRule = TEXT
    state: Path | None = None  # a project's own folder, which may lie inside and is never read
    kind: Literal["files", "documents"] = "files"

    def documents(self) -> Iterator[Entry]:
        """Every file that the rule takes, and what is left out."""
        pending = [(self.root, _listed(self.root))]
        while pending:
            folder, names = pending.pop()
            if isinstance(names, OSError):
                raw = f"{folder.relative_to(self.root).as_posix()}/"
                yield SkippedDocument(_shown(raw), "skipped_unreadable", names.strerror)
                continue
            for name in sorted(names):
                path = folder / name
                raw = path.relative_to(self.root).as_posix()
                if not _is_folder(path):
                    yield self._entry(raw, path)
                    continue
                inner = _listed(path)
                held = frozenset() if isinstance(inner, OSError) else inner
                reason = self._skip(path, Folder(raw, held, names))
                if reason is None:
                    pending.append((path, inner))
                else:
                    yield _left_out_folder(f"{raw}/", path, reason)

    def _skip(self, path: Path, folder: Folder) -> Reason | None:
        if self.state is not None and path.name == self.state.name and path.samefile(self.state):
            return "skipped_vendored", "the state of evalake itself"
        return self.rule.skip_folder(folder)

    def _entry(self, raw: str, file: Path) -> Entry:
        path = clean_path(raw)
        if path is None:
            return SkippedDocument(_shown(raw), "skipped_path", "a name that must not be written")
        try:
            status = file.lstat()
            if stat.S_ISLNK(status.st_mode):
                return SkippedDocument(path, "skipped_link", self._led_to(file))
            if not stat.S_ISREG(status.st_mode):
                return SkippedDocument(path, "skipped_special", "no regular file")
            n_bytes = status.st_size
            reason = self.rule.skip_name(path) or self.rule.skip_size(n_bytes)
            if reason is None:
                content = file.read_bytes()
                reason = self.rule.skip_content(content)
                if reason is None:
                    return CorpusDocument(path, content)
        except OSError as error:
            return SkippedDocument(path, "skipped_unreadable", error.strerror)
        return SkippedDocument(path, *reason, n_bytes=n_bytes)

    def _led_to(self, link: Path) -> str:
        """Where a symbolic link leads; a target inside the folder is read at its own path."""
        target = str(link.readlink())
        try:
            end = link.resolve(strict=True)
        except (OSError, RuntimeError):  # RuntimeError: a circle
            return f"a link that leads nowhere: {target}"
        if end.is_relative_to(self.root.resolve()):
            return f"a link inside the folder: {target}"
        return f"a link out of the folder: {target}"


def _shown(raw: str) -> str:
    return raw.encode("utf-8", "backslashreplace").decode()


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _listed(folder: Path) -> frozenset[str] | OSError:
    try:
        return frozenset(entry.name for entry in folder.iterdir())
    except OSError as error:
        return error


def _left_out_folder(shown: str, folder: Path, reason: Reason) -> SkippedDocument:
    """The row of a skipped folder, with the number of files in it."""
    n_files = n_bytes = 0
    for inner, _, files in os.walk(folder):
        n_files += len(files)
        for name in files:
            try:
                n_bytes += Path(inner, name).lstat().st_size
            except OSError:
                continue
    return SkippedDocument(_shown(shown), *reason, n_files=n_files, n_bytes=n_bytes)


def is_absent(source: CorpusSource) -> bool:
    """Whether a source stands for a corpus that is not at hand, such as that of a ranking."""
    return isinstance(source, MemorySource) and not source.contents


def source_paths(source: CorpusSource) -> tuple[frozenset[str], frozenset[str]]:
    """Paths of a source's files, for loaders that resolve citations, and of what it leaves out."""
    paths: set[str] = set()
    left_out: set[str] = set()
    for entry in source.documents():
        (paths if isinstance(entry, CorpusDocument) else left_out).add(entry.path)
    return frozenset(paths), frozenset(left_out)
