"""Locks of a project: one cell is run, and one index built, by one process at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

# Long enough to outlast someone who only looks whether the lock is held.
_PATIENCE_S = 0.5


def cell_lock_file(home: Path, key_hash: str) -> Path:
    """Lock of one cell of a sweep."""
    return home / "locks" / f"{key_hash[:32]}.lock"


@contextmanager
def try_lock(file: Path) -> Iterator[bool]:
    """Hold a lock while the block runs; False where another process holds it."""
    from filelock import FileLock, Timeout

    file.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(file)
    try:
        lock.acquire(timeout=_PATIENCE_S)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def held_locks(home: Path, *, but: Collection[str] = ()) -> list[str]:
    """Locks that a process holds right now; a lock file alone means nothing.

    Args:
        but: names of locks that the caller holds.
    """
    from filelock import FileLock, Timeout

    held = []
    for pattern in ("*.lock", "locks/*.lock", "indexes/*/*.lock"):
        for file in sorted(home.glob(pattern)):
            try:
                with FileLock(file).acquire(timeout=0):
                    continue
            except Timeout:
                if (name := file.relative_to(home).as_posix()) not in but:
                    held.append(name)
            except OSError:  # a home that is read-only
                continue
    return held
