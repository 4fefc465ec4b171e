"""Files and folders that are there for a while only, and what dead processes left of them.

The owner of one holds a lock on it. The system lets go of a lock when its process ends, whatever
ends it, also in another container: what nobody holds is nobody's, and can be removed.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from evalake_warehouse.errors import DiskFullError

try:
    import fcntl
except ImportError:  # a system without such locks: nothing is swept there
    fcntl = None  # type: ignore[assignment]

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_MARK = re.compile(r"[0-9a-f]{32}(\.tmp)?$")


@contextmanager
def replacing(final: Path) -> Iterator[IO[bytes]]:
    """A file to write, which takes the place of `final` when the block ends well, on disk by then.

    Raises:
        DiskFullError: it did not fit; `final` is as it was.
    """
    with telling_full_disk(final):
        final.parent.mkdir(parents=True, exist_ok=True)
        temporary, file = _open_locked(final)
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                temporary.replace(final)  # while it is locked: else it might be swept before
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def scratch_folder(parent: Path, prefix: str, *, suffix: str = "") -> Iterator[Path]:
    """A new folder that is removed at the end of the block; one that was moved away stays."""
    while True:
        folder = parent / f"{prefix}{uuid.uuid4().hex}{suffix}"
        folder.mkdir()
        held = _hold(folder)
        if folder.is_dir():  # else it was swept before it was locked
            break
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if held is not None:
            os.close(held)


def sweep(paths: Iterable[Path]) -> list[Path]:
    """Remove temporary files and folders that no process holds, and return their paths."""
    return [path for path in paths if _MARK.search(path.name) and _remove_if_free(path)]


@contextmanager
def telling_full_disk(place: Path) -> Iterator[None]:
    """Say where there was no space left, in place of an `OSError` without a path.

    Raises:
        DiskFullError: the block ran out of space.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        what = f"{os.strerror(error.errno or errno.ENOSPC)}; nothing was written here"
        raise DiskFullError(what, where=str(place), hint="evalake cache info") from error


def _open_locked(final: Path) -> tuple[Path, IO[bytes]]:
    while True:
        temporary = final.with_name(f"{final.name}.{uuid.uuid4().hex}.tmp")
        file = temporary.open("xb")
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if temporary.exists():  # else it was swept before it was locked
            return temporary, file
        file.close()


def _hold(folder: Path) -> int | None:
    if fcntl is None:
        return None
    held = os.open(folder, os.O_RDONLY)
    with suppress(OSError):
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return held


def _remove_if_free(path: Path) -> bool:
    if fcntl is None:
        return False
    try:
        if path.lstat().st_uid != os.getuid():
            return False
        held = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError:  # held, or no longer there
        return False
    finally:
        os.close(held)
    return not path.exists()
