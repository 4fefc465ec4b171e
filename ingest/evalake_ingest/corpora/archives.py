"""Read untrusted tarballs and zips, entry by entry, without ever extracting them to disk."""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, cast

from evalake_ingest.corpora.paths import clean_path
from evalake_ingest.corpora.rules import CorpusRule, Folder, Reason
from evalake_ingest.records import CorpusDocument, SkippedDocument
from evalake_warehouse.errors import DatasetError

MAX_ENTRIES = 200_000
MAX_TOTAL_BYTES = 4_000_000_000  # unpacked
_MAX_READ = 64_000_000  # one read; a header that claims more is an attack on memory

_BROKEN = (
    tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError,
    RuntimeError, NotImplementedError,
)  # fmt: skip


def read_archive(archive: Path, rule: CorpusRule) -> Iterator[CorpusDocument | SkippedDocument]:
    """Yield the files of an archive that a rule takes, and what is left out.

    A top folder that all entries share is left out of the paths, as is a leading `./`.

    Raises:
        DatasetError: not an archive, truncated, or beyond the limits on count and size.
    """
    try:
        if zipfile.is_zipfile(archive):
            yield from _read_zip(archive, rule)
        else:
            yield from _read_tar(archive, rule)
    except OSError as error:
        raise DatasetError(
            f"cannot be read: {error.strerror or error}", where=str(archive)
        ) from error
    except _BROKEN as error:
        what = f"truncated or not an archive: {error or type(error).__name__}"
        raise DatasetError(what, where=str(archive)) from error


def _read_tar(archive: Path, rule: CorpusRule) -> Iterator[CorpusDocument | SkippedDocument]:
    members = [(member.name, member.isdir()) for member in _members(archive)]
    top = _shared_top([name for name, _ in members])
    tree = FolderTree(rule, (_below(name, top) for name, is_folder in members if not is_folder))
    with _open_tar(archive) as tar:
        total = 0
        for member in tar:
            name = _below(member.name, top)
            if member.isdir() or name is None or tree.leaves_out(name, member.size):
                continue
            path = clean_path(name)
            if path is None:
                yield _bad_name(name)
            elif member.issym() or member.islnk():
                yield SkippedDocument(path, "skipped_link", f"a link: {member.linkname}")
            elif not member.isreg():
                yield SkippedDocument(path, "skipped_special", "no regular file")
            elif reason := rule.skip_name(path) or rule.skip_size(member.size):
                yield SkippedDocument(path, *reason, n_bytes=member.size)
            else:
                total = _add(archive, total, member.size)
                file = tar.extractfile(member)
                content = file.read() if file else b""
                if len(content) != member.size:
                    raise EOFError(f"{name} ends after {len(content)} of {member.size} bytes")
                yield _judged(rule, path, content)
    yield from tree.left_out()


def _bad_name(name: str) -> SkippedDocument:
    shown = name.encode("utf-8", "backslashreplace").decode()
    return SkippedDocument(shown, "skipped_path", "a name that must not be written")


def _judged(rule: CorpusRule, path: str, content: bytes) -> CorpusDocument | SkippedDocument:
    reason = rule.skip_content(content)
    if reason is None:
        return CorpusDocument(path, content)
    return SkippedDocument(path, *reason, n_bytes=len(content))


class FolderTree:
    """The folders of an archive: which are left out whole, and how much each of those holds."""

    def __init__(self, rule: CorpusRule, files: Iterable[str | None]) -> None:
        self._rule = rule
        self._names: defaultdict[str, set[str]] = defaultdict(set)
        for file in files:
            path = file or ""
            while path and path not in self._names[path.rpartition("/")[0]]:
                above, _, name = path.rpartition("/")
                self._names[above].add(name)
                path = above
        self._known: dict[str, tuple[str, Reason] | None] = {"": None}
        self._held: dict[str, tuple[Reason, int, int]] = {}

    def leaves_out(self, path: str, n_bytes: int) -> bool:
        """Whether a file lies in a skipped folder; if so, count it in that folder's row."""
        found = self._decide(path.rpartition("/")[0])
        if found is None:
            return False
        folder, reason = found
        _, files, held = self._held.get(folder, (reason, 0, 0))
        self._held[folder] = (reason, files + 1, held + n_bytes)
        return True

    def left_out(self) -> Iterator[SkippedDocument]:
        """One row for each folder that was left out."""
        for folder, (reason, n_files, n_bytes) in sorted(self._held.items()):
            shown = f"{folder}/".encode("utf-8", "backslashreplace").decode()
            yield SkippedDocument(shown, *reason, n_files=n_files, n_bytes=n_bytes)

    def _decide(self, folder: str) -> tuple[str, Reason] | None:
        """The outermost folder around a file that the rule leaves out, and why."""
        if folder not in self._known:
            above = folder.rpartition("/")[0]
            found = self._decide(above) if above != folder else None
            if found is None:
                names, beside = self._names[folder], self._names[above]
                reason = self._rule.skip_folder(Folder(folder, frozenset(names), frozenset(beside)))
                found = (folder, reason) if reason else None
            self._known[folder] = found
        return self._known[folder]


def _members(archive: Path) -> Iterator[tarfile.TarInfo]:
    with _open_tar(archive) as tar:
        for number, member in enumerate(tar):
            if number >= MAX_ENTRIES:
                raise DatasetError(f"more than {MAX_ENTRIES} entries", where=str(archive))
            yield member


def _open_tar(archive: Path) -> tarfile.TarFile:
    return tarfile.open(fileobj=_Bounded(archive), mode="r:")


class _Bounded(io.BufferedIOBase):
    """A decompressed stream that refuses to grow without end."""

    def __init__(self, archive: Path) -> None:
        with archive.open("rb") as file:
            magic = file.read(6)
        self._archive = archive
        self._file: IO[bytes]
        if magic.startswith(b"\x1f\x8b"):
            self._file = cast("IO[bytes]", gzip.open(archive, "rb"))  # noqa: SIM115
        elif magic.startswith(b"\xfd7zXZ"):
            self._file = cast("IO[bytes]", lzma.open(archive, "rb"))  # noqa: SIM115
        else:
            self._file = archive.open("rb")

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0 or size > _MAX_READ or self._file.tell() > MAX_TOTAL_BYTES:
            raise DatasetError(
                "an entry or the whole is too large unpacked", where=str(self._archive)
            )
        return self._file.read(size)

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, offset: int, whence: int = 0, /) -> int:
        if offset > MAX_TOTAL_BYTES:
            raise DatasetError("too large unpacked", where=str(self._archive))
        return self._file.seek(offset, whence)

    def close(self) -> None:
        self._file.close()


def _read_zip(archive: Path, rule: CorpusRule) -> Iterator[CorpusDocument | SkippedDocument]:
    with zipfile.ZipFile(archive) as unpacked:
        entries = unpacked.infolist()
        if len(entries) > MAX_ENTRIES:
            raise DatasetError(f"more than {MAX_ENTRIES} entries", where=str(archive))
        top = (
            None if archive.suffix == ".whl" else _shared_top([entry.filename for entry in entries])
        )
        files = (_below(entry.filename, top) for entry in entries if not entry.is_dir())
        tree = FolderTree(rule, files)
        total = 0
        for entry in entries:
            name = _below(entry.filename, top)
            if entry.is_dir() or name is None or tree.leaves_out(name, entry.file_size):
                continue
            path = clean_path(name)
            if path is None:
                yield _bad_name(name)
            elif stat.S_ISLNK(entry.external_attr >> 16):
                yield SkippedDocument(path, "skipped_link", "a link")
            elif reason := rule.skip_name(path) or rule.skip_size(entry.file_size):
                yield SkippedDocument(path, *reason, n_bytes=entry.file_size)
            else:
                total = _add(archive, total, entry.file_size)
                with unpacked.open(entry) as file:
                    content = file.read(rule.max_bytes + 1)
                if len(content) > rule.max_bytes:
                    what = "larger than its header says"
                    yield SkippedDocument(path, "skipped_size", what, n_bytes=len(content))
                else:
                    yield _judged(rule, path, content)
        yield from tree.left_out()


def _add(archive: Path, total: int, size: int) -> int:
    if total + size > MAX_TOTAL_BYTES:
        raise DatasetError(f"more than {MAX_TOTAL_BYTES} bytes unpacked", where=str(archive))
    return total + size


def _shared_top(names: list[str]) -> str | None:
    """The one folder that all entries lie in, if any."""
    tops = {name.removeprefix("./").partition("/")[0] for name in names if name not in {".", "./"}}
    nested = any("/" in name.removeprefix("./").rstrip("/") for name in names)
    return tops.pop() if len(tops) == 1 and nested else None


def _below(name: str, top: str | None) -> str | None:
    name = name.removeprefix("./")
    if top is None:
        return name or None
    return name.removeprefix(f"{top}/") if name.startswith(f"{top}/") else None
