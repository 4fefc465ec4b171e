"""Fetch pinned files once, into the cache that all projects of a user share.

A file is streamed to `<name>.part`, resumed by Range after a break, checked against its sha256
and only then given its name. A lock keeps two processes from fetching the same file.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalake_warehouse.errors import DownloadError

if TYPE_CHECKING:
    import httpx

ATTEMPTS = 4
_TIMEOUT_S = 30.0
_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file at a pinned place."""

    name: str
    url: str
    sha256: str | None  # None where a revision of the user's own has no known hash


class _BrokenError(Exception):
    """An answer that another try may mend."""


def fetch(
    file: RemoteFile,
    cache: Path,
    *,
    client: httpx.Client | None = None,
    wait_s: float = 1.0,
) -> Path:
    """The file in the cache, fetched if it is not there yet.

    Args:
        wait_s: pause before the first retry; it doubles with each.

    Raises:
        DownloadError: it could not be had, or has another hash than its pin. The message says
            where to put it by hand.
    """
    import filelock

    target = cached_path(file, cache)
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(target.with_name(f"{target.name}.lock")):
        if not target.exists():
            _fetch_locked(file, target, client, wait_s)
    return target


def cached_path(file: RemoteFile, cache: Path) -> Path:
    """Where the cache keeps a file: by its hash, or by its address where it has none."""
    key = file.sha256 or hashlib.sha256(file.url.encode()).hexdigest()
    return cache / "downloads" / key[:16] / file.name


def check_sha256(path: Path, expected: str) -> str:
    """Hex sha256 of a file, which must be the expected one.

    Raises:
        DownloadError: it is another one.
    """
    with path.open("rb") as opened:
        actual = hashlib.file_digest(opened, "sha256").hexdigest()
    if actual != expected:
        raise DownloadError(f"sha256 is {actual}, expected {expected}", where=str(path))
    return actual


def _fetch_locked(
    file: RemoteFile, target: Path, client: httpx.Client | None, wait_s: float
) -> None:
    import httpx
    import stamina

    # Its own note of each retry is a bare line of a log that nobody set up.
    stamina.instrumentation.set_on_retry_hooks(())
    part = target.with_name(f"{target.name}.part")
    own = client or httpx.Client(timeout=_TIMEOUT_S, follow_redirects=True)
    try:
        for attempt in stamina.retry_context(
            on=(httpx.TransportError, _BrokenError), attempts=ATTEMPTS, wait_initial=wait_s,
            wait_jitter=wait_s / 4, timeout=None,
        ):  # fmt: skip
            with attempt:
                _stream(own, file, part)
    except (httpx.HTTPError, httpx.InvalidURL, _BrokenError) as error:
        raise DownloadError(
            f"could not be fetched from {file.url}: {error or type(error).__name__}; "
            f"put it there by hand: {target}",
            where=file.name,
            hint="evalake ingest NAME --from DIR",
        ) from error
    finally:
        if client is None:
            own.close()
    if file.sha256 is not None:
        try:
            check_sha256(part, file.sha256)
        except DownloadError as error:
            part.unlink()  # resuming it could only give the same
            raise DownloadError(str(error.problems[0].what), where=file.url) from error
    part.replace(target)


def _stream(client: httpx.Client, file: RemoteFile, part: Path) -> None:
    have = part.stat().st_size if part.exists() else 0
    # Without encoding, so that bytes on disk are the bytes that Range counts.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    with client.stream("GET", file.url, headers=headers) as response:
        if response.status_code == 416:  # what we have is all there is, or is of another file
            part.unlink()
            raise _BrokenError("nothing left to resume")
        if response.status_code in _RETRIED:
            raise _BrokenError(f"HTTP {response.status_code}")
        response.raise_for_status()
        resumed = response.status_code == 206
        start = have if resumed else 0
        expected = _expected_size(response, start)
        received = start
        with (
            part.open("ab" if resumed else "wb") as out,
            progress(file.name, expected) as advance,
        ):
            advance(start)
            for chunk in response.iter_raw():  # as it arrives: a break loses nothing
                out.write(chunk)
                received += len(chunk)
                advance(len(chunk))
    if expected is not None and received < expected:
        raise _BrokenError(f"ended after {received} of {expected} bytes")


def _expected_size(response: httpx.Response, start: int) -> int | None:
    length = response.headers.get("Content-Length", "")
    return start + int(length) if length.isdigit() else None


@contextmanager
def progress(label: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr; silent where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = [TextColumn("{task.description}"), BarColumn(), DownloadColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.advance(task, done)


def find_local(folder: Path, names: Sequence[str]) -> Path | None:
    """The first of some relative names that a folder given by --from holds."""
    return next((folder / name for name in names if (folder / name).is_file()), None)
