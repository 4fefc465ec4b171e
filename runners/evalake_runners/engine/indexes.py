"""Indexes on disk: one per (system, ingestion, corpus content), built once, reused by every sweep.

indexes/<system>/<ingestion>-<corpus>/about.json   what was built, and what it cost
                                      index/       the system's own files
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalake_runners.adapters.protocol import CorpusView, IndexReport
from evalake_runners.sweeps.arms import Arm
from evalake_runners.workers.fields import count
from evalake_runners.workers.pool import (
    MAX_STARTS,
    Worker,
    WorkerCrashedError,
    WorkerTimeoutError,
)
from evalake_runners.workers.replies import Failed, Indexed, read_report
from evalake_warehouse.file_names import file_name
from evalake_warehouse.scratch import scratch_folder, telling_full_disk
from evalake_warehouse.scrub import scrub_tree
from evalake_warehouse.vocabulary import AttemptStatus

GetWorker = Callable[[], Worker]

_ABOUT = "about.json"
_CONTENT = "index"
_PREFIX_CHARS = 16


@dataclass(frozen=True, slots=True)
class IndexOutcome:
    """What came of asking for one index."""

    status: AttemptStatus  # never `empty`
    cache_hit: bool = False
    folder: Path | None = None
    seconds: float | None = None  # None for a cache hit: nothing was measured
    bytes_on_disk: int | None = None
    report: IndexReport = field(default_factory=IndexReport)
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """One index as `evalake cache info` lists it."""

    system: str
    key: str
    path: Path
    bytes_on_disk: int
    seconds: float | None
    built_at: datetime | None
    used_at: datetime | None
    corpus_id: str | None
    is_complete: bool


class IndexStore:
    """The indexes of one project.

    Args:
        reuse: False builds every index anew, in a folder that is removed at the end.
    """

    def __init__(self, root: Path, *, reuse: bool = True) -> None:
        self._root = root
        self._reuse = reuse
        self._fresh: dict[Path, IndexOutcome] = {}
        self._scratch = ExitStack()

    def folder(self, arm: Arm, corpus_id: str) -> Path:
        """Where an index is or will be."""
        key = f"{arm.ingestion_hash[:_PREFIX_CHARS]}-{corpus_id[:_PREFIX_CHARS]}"
        return self._root / file_name(arm.system) / key

    def has(self, arm: Arm, corpus_id: str) -> bool:
        """Whether an index is there to be reused."""
        return self._may_reuse(arm) and (self.folder(arm, corpus_id) / _ABOUT).is_file()

    def obtain(
        self, arm: Arm, corpus: CorpusView, get_worker: GetWorker, *, timeout_s: float
    ) -> IndexOutcome:
        """The stored index, or a new one. A failure is an outcome, not an error.

        `get_worker` is called only if there is something to build: starting one costs seconds.
        Two processes that want the same index: the second waits, then reuses it.
        """
        final = self.folder(arm, corpus.corpus_id)
        final.parent.mkdir(parents=True, exist_ok=True)
        if not self._may_reuse(arm):
            if (built := self._fresh.get(final)) is not None:
                return _as_hit(built)
            folder = self._scratch.enter_context(_scratch(final))
            outcome = _build(arm, corpus, get_worker, folder, timeout_s)
            if outcome.status == "ok":
                self._fresh[final] = outcome
            return outcome
        with _locked(final):
            if (hit := _read_hit(final)) is not None:
                return hit
            # Where it stays: an index may name its own files by absolute paths. What a kill leaves
            # of one has no record, and is built anew.
            shutil.rmtree(final, ignore_errors=True)
            final.mkdir()
            try:
                outcome = _build(arm, corpus, get_worker, final, timeout_s)
            except BaseException:
                shutil.rmtree(final, ignore_errors=True)
                raise
            if outcome.status != "ok":
                shutil.rmtree(final, ignore_errors=True)
        return outcome

    def _may_reuse(self, arm: Arm) -> bool:
        """Whether another invocation's index will do: of an unknown version it may be another."""
        return self._reuse and arm.version_known

    def close(self) -> None:
        """Remove what was built for one use."""
        self._scratch.close()


def list_indexes(root: Path) -> list[StoredIndex]:
    """Every index of a project, unfinished ones too, largest first."""
    found = []
    for folder in sorted(root.glob("*/*")):
        if not folder.is_dir():
            continue
        about = _read_about(folder) or {}
        built = about.get("built_at")
        mark = folder / _ABOUT
        used = datetime.fromtimestamp(mark.stat().st_mtime, UTC) if mark.exists() else None
        found.append(
            StoredIndex(
                system=folder.parent.name,
                key=folder.name,
                path=folder,
                bytes_on_disk=folder_bytes(folder),
                seconds=about.get("seconds"),
                built_at=datetime.fromisoformat(built) if built else None,
                used_at=used.replace(tzinfo=None) if used else None,
                corpus_id=about.get("corpus_id"),
                is_complete=bool(about),
            )
        )
    return sorted(found, key=lambda index: -index.bytes_on_disk)


def remove_index(index: StoredIndex) -> None:
    """Delete one index. No sweep may be running: it would lose what it searches."""
    shutil.rmtree(index.path, ignore_errors=True)
    _lock_path(index.path).unlink(missing_ok=True)


def folder_bytes(folder: Path) -> int:
    """Bytes of all regular files in a folder; links are not followed."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size  # noqa: PTH118 - ten times faster
            except OSError:
                continue
    return total


def _build(
    arm: Arm, corpus: CorpusView, get_worker: GetWorker, folder: Path, timeout_s: float
) -> IndexOutcome:
    """Have an index built inside `folder`; again where something else killed the worker."""
    for n_lost in range(1, MAX_STARTS + 1):
        content = folder / _CONTENT
        shutil.rmtree(content, ignore_errors=True)
        content.mkdir()
        try:
            reply = get_worker().call(("index", corpus, content), timeout_s=timeout_s)
        except WorkerTimeoutError:
            return IndexOutcome("timeout", reason=f"indexing took more than {timeout_s:g} s")
        except WorkerCrashedError as error:
            if error.is_by_chance and n_lost < MAX_STARTS:
                continue
            times = f" ({n_lost} times in a row)" if n_lost > 1 else ""
            return IndexOutcome("error", reason=f"indexing: {error}{times}")
        if isinstance(reply, Failed):
            return IndexOutcome(
                "error" if reply.is_attempted else "not_attempted", reason=reply.reason
            )
        if isinstance(reply, Indexed):
            return _note(arm, corpus, folder, reply)
    raise AssertionError("a worker answers, or is lost")


def _note(arm: Arm, corpus: CorpusView, folder: Path, built: Indexed) -> IndexOutcome:
    size = folder_bytes(folder / _CONTENT)
    about = {
        "system": arm.system,
        "system_version": arm.system_version,
        "adapter_version": arm.adapter_version,
        "ingestion_hash": arm.ingestion_hash,
        "corpus_id": corpus.corpus_id,
        "seconds": built.seconds,
        "bytes_on_disk": size,
        "built_at": datetime.now(UTC).replace(tzinfo=None).isoformat(),
        "report": scrub_tree(asdict(built.report)),
    }
    with telling_full_disk(folder):
        (folder / _ABOUT).write_text(json.dumps(about, indent=1), encoding="utf-8")
    return IndexOutcome("ok", False, folder / _CONTENT, built.seconds, size, built.report)


def _scratch(final: Path) -> AbstractContextManager[Path]:
    return scratch_folder(final.parent, f"{final.name}.", suffix=".tmp")


def _read_hit(folder: Path) -> IndexOutcome | None:
    about = _read_about(folder)
    if about is None:
        return None
    try:
        report = read_report(about["report"])
        size = count(about["bytes_on_disk"], "bytes_on_disk")
    except (KeyError, TypeError, ValueError):  # damaged: it is built again
        return None
    os.utime(folder / _ABOUT)  # `cache evict` goes by last use
    return IndexOutcome("ok", True, folder / _CONTENT, None, size, report)


def _as_hit(outcome: IndexOutcome) -> IndexOutcome:
    return IndexOutcome("ok", True, outcome.folder, None, outcome.bytes_on_disk, outcome.report)


def _read_about(folder: Path) -> dict[str, Any] | None:
    try:
        about: dict[str, Any] = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return about if isinstance(about, dict) else None


def _lock_path(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    from filelock import FileLock

    with FileLock(_lock_path(folder)):
        yield
