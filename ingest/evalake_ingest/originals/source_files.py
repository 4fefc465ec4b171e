"""Text files as they come: plain or compressed, read once, line by line, hashed on the way."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any, Protocol

import pyarrow as pa

from evalake_ingest.originals.problems import Problems

_CHUNK = 1 << 20
_BOM = b"\xef\xbb\xbf"
# First bytes of what is no text and is not unpacked here, and what to do about it.
_OTHERS = {
    b"PK\x03\x04": ("a zip archive", "unzip {file}"),
    b"\x1f\x9d": ("compressed with compress", "uncompress {file}"),
    b"7z\xbc\xaf": ("a 7z archive", "7z x {file}"),
    b"PAR1": ("a Parquet file", "evalake import beir --help"),
    b"\xff\xfe": ("UTF-16", "iconv -f utf-16 -t utf-8 {file} > {file}.utf8"),
    b"\xfe\xff": ("UTF-16", "iconv -f utf-16 -t utf-8 {file} > {file}.utf8"),
}
_TORN = (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowInvalid)


class _Bytes(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Source:
    """One text file. gzip, bzip2, xz, zstd and lz4 are known by their first bytes, not by name.

    Args:
        problems: where a file that cannot be read, and every line that is not UTF-8, is told.
    """

    def __init__(self, file: Path, problems: Problems) -> None:
        self.file = file
        self.is_readable = True  # False once it could not be read to its end
        self._problems = problems
        self._digest = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Hash of the content, as it is unpacked, that was read so far."""
        return self._digest.hexdigest()

    def place(self, line: int) -> str:
        """Where a line is, for a message."""
        return f"{self.file}:{line}"

    def refuse(self, what: str, *, hint: str | None = None) -> None:
        """Note a problem of the whole file."""
        self.is_readable = False
        self._problems.add(str(self.file), what, hint=hint)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Line number, from 1, and text of every line that is not blank.

        Lines end with LF, CRLF or CR; a byte order mark is left out.
        """
        for number, line in self._numbered():
            if line.strip() and (text := self._decode(number, line)) is not None:
                yield number, text

    def text(self) -> str | None:
        """The whole text, with LF line ends; None where it cannot be read."""
        before = self._problems.count
        lines = [self._decode(number, line) or "" for number, line in self._numbered()]
        return "\n".join(lines) if self._problems.count == before else None

    def _numbered(self) -> Iterator[tuple[int, bytes]]:
        number = 0
        for block in self._blocks():
            for line in block.splitlines():
                number += 1
                yield number, line

    def _decode(self, number: int, line: bytes) -> str | None:
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            what = f"not UTF-8: byte 0x{line[error.start]:02x} ({error.reason})"
            hint = (
                f"iconv -f latin1 -t utf-8 {quote(str(self.file))} > {quote(f'{self.file}.utf8')}"
            )
            self._problems.add(f"{self.place(number)}:{error.start + 1}", what, hint=hint)
            return None

    def _blocks(self) -> Iterator[bytes]:
        """The content in blocks that end where a line ends."""
        kept: list[bytes] = []
        for chunk in self._chunks():
            whole, newline, rest = chunk.rpartition(b"\n")
            if newline:
                yield b"".join([*kept, whole, newline])
                kept = []
            kept.append(rest)
        yield b"".join(kept)

    def _chunks(self) -> Iterator[bytes]:
        try:
            with self.file.open("rb") as raw:
                stream = self._unpacked(raw)
                is_first = True
                while stream is not None and (chunk := stream.read(_CHUNK)):
                    self._digest.update(chunk)
                    yield chunk.removeprefix(_BOM) if is_first else chunk
                    is_first = False
        except _TORN as error:
            told = error.strerror if isinstance(error, OSError) and error.strerror else error
            self.refuse(f"cannot be read: {told}")

    def _unpacked(self, raw: io.BufferedReader) -> _Bytes | None:
        start = raw.peek(8)[:8]
        for magic, (kind, hint) in _OTHERS.items():
            if start.startswith(magic):
                self.refuse(
                    f"this is {kind}, not UTF-8 text", hint=hint.format(file=quote(str(self.file)))
                )
                return None
        return _open_packed(start, raw) or raw


def _open_packed(start: bytes, raw: io.BufferedReader) -> Any:
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=raw)
    if start.startswith(b"BZh"):
        return bz2.BZ2File(raw)
    if start.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMAFile(raw)
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        return pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")
    if start.startswith(b"\x04\x22\x4d\x18"):
        return pa.CompressedInputStream(pa.PythonFile(raw, "r"), "lz4")
    return None
