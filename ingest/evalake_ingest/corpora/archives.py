"""Read untrusted tarballs and zips, entry by entry, without ever extracting them to disk."""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

from evalake_ingest.corpora.paths import MAX_FILE_BYTES, clean_path
from evalake_ingest.records import CorpusDocument, SkippedDocument
from evalake_warehouse.errors import DatasetError

MAX_ENTRIES = 200_000
MAX_TOTAL_BYTES = 4_000_000_000  # unpacked
_MAX_READ = 64_000_000  # one read; a header that claims more is an attack on memory

_BROKEN = (
    tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError,
    RuntimeError, NotImplementedError,
)  # fmt: skip


def read_archive(
    archive: Path, *, keep: Callable[[str], bool]
) -> Iterator[CorpusDocument | SkippedDocument]:
    """Yield the kept files of an archive, and each entry that is refused.

    A top folder that all entries share is left out of the paths, as is a leading `./`.

    Raises:
        DatasetError: not an archive, truncated, or beyond the limits on count and size.
    """
    try:
        if zipfile.is_zipfile(archive):
            yield from _read_zip(archive, keep)
        else:
            yield from _read_tar(archive, keep)
    except OSError as error:
        raise DatasetError(
            f"cannot be read: {error.strerror or error}", where=str(archive)
        ) from error
    except _BROKEN as error:
        what = f"truncated or not an archive: {error or type(error).__name__}"
        raise DatasetError(what, where=str(archive)) from error


def _read_tar(
    archive: Path, keep: Callable[[str], bool]
) -> Iterator[CorpusDocument | SkippedDocument]:
    names = [member.name for member in _members(archive)]
    top = _shared_top(names)
    with _open_tar(archive) as tar:
        total = 0
        for member in tar:
            name = _below(member.name, top)
            if member.isdir() or name is None or not keep(name):
                continue
            path = clean_path(name)
            shown = name.encode("utf-8", "backslashreplace").decode()
            if path is None:
                yield SkippedDocument(shown, "skipped_path")
            elif member.issym() or member.islnk():
                yield SkippedDocument(shown, "skipped_link", member.linkname)
            elif not member.isreg():
                yield SkippedDocument(shown, "skipped_special")
            elif member.size > MAX_FILE_BYTES:
                yield SkippedDocument(shown, "skipped_size", f"{member.size} bytes")
            else:
                total = _add(archive, total, member.size)
                file = tar.extractfile(member)
                content = file.read() if file else b""
                if len(content) != member.size:
                    raise EOFError(f"{name} ends after {len(content)} of {member.size} bytes")
                yield CorpusDocument(path, content)


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


def _read_zip(
    archive: Path, keep: Callable[[str], bool]
) -> Iterator[CorpusDocument | SkippedDocument]:
    with zipfile.ZipFile(archive) as unpacked:
        entries = unpacked.infolist()
        if len(entries) > MAX_ENTRIES:
            raise DatasetError(f"more than {MAX_ENTRIES} entries", where=str(archive))
        top = (
            None if archive.suffix == ".whl" else _shared_top([entry.filename for entry in entries])
        )
        total = 0
        for entry in entries:
            name = _below(entry.filename, top)
            if entry.is_dir() or name is None or not keep(name):
                continue
            path = clean_path(name)
            mode = entry.external_attr >> 16
            if path is None:
                yield SkippedDocument(
                    name.encode("utf-8", "backslashreplace").decode(), "skipped_path"
                )
            elif stat.S_ISLNK(mode):
                yield SkippedDocument(path, "skipped_link")
            elif entry.file_size > MAX_FILE_BYTES:
                yield SkippedDocument(path, "skipped_size", f"{entry.file_size} bytes")
            else:
                total = _add(archive, total, entry.file_size)
                with unpacked.open(entry) as file:
                    content = file.read(MAX_FILE_BYTES + 1)
                if len(content) > MAX_FILE_BYTES:
                    yield SkippedDocument(path, "skipped_size", "larger than its header says")
                else:
                    yield CorpusDocument(path, content)


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
