"""A dataset is removed while nothing is at work, and what systems built for it goes with it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from shlex import quote

from evalake_ingest.removal import Removal, remove
from evalake_runners.engine.indexes import StoredIndex, list_indexes, remove_index
from evalake_runners.engine.locks import held_locks
from evalake_runners.workers.run_log import log_file
from evalake_warehouse.errors import UsageError
from evalake_warehouse.project import Project


def indexes_of(project: Project, removal: Removal) -> list[StoredIndex]:
    """Indexes of corpora that nothing else is asked about."""
    return [one for one in list_indexes(project.indexes) if one.corpus_id in removal.corpus_ids]


def remove_now(project: Project, removal: Removal, *, keep: bool) -> Path | None:
    """Remove a dataset; the folder it is kept in, or None.

    Raises:
        UsageError: a sweep, an import or a build is at work, or a sweep began meanwhile.
    """
    from filelock import FileLock, Timeout

    ours = ("build.lock", f"ingest-{removal.dataset}.lock")
    with ExitStack() as locks:
        try:
            for name in ours:
                locks.enter_context(FileLock(project.home / name).acquire(timeout=0))
        except Timeout as error:
            raise _at_work(project, removal, [Path(error.lock_file).name]) from error
        if held := held_locks(project.home, but=ours):
            raise _at_work(project, removal, held)
        indexes = [] if keep else indexes_of(project, removal)
        kept_in = remove(
            project,
            removal,
            keep=keep,
            is_disturbed=lambda: bool(held_locks(project.home, but=ours)),
        )
        for index in indexes:
            remove_index(index)
        for run_id in removal.run_ids:
            (project.home / "spent" / f"{run_id}.json").unlink(missing_ok=True)
            log_file(project.home, run_id).unlink(missing_ok=True)
    return kept_in


def _at_work(project: Project, removal: Removal, held: list[str]) -> UsageError:
    return UsageError(
        f"a process is at work here ({', '.join(held)}); nothing was removed, wait for its end",
        where=str(project.home),
        hint=f"evalake datasets remove {quote(removal.dataset)}",
    )
