"""Remove a dataset, or one edition of it, with everything in the lake that hangs on it.

What goes is moved out of the lake first, by renames and the commit marks before all else: a kill
at any moment leaves a lake that builds, and the same removal again takes the rest. Looks at the
test tail stay, for a dataset that is ingested again is the same to whoever looked at it.
"""

from __future__ import annotations

import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from evalake_ingest.names import absent_dataset, ingested_names
from evalake_warehouse.errors import UsageError
from evalake_warehouse.file_names import file_name
from evalake_warehouse.lake.reader import LakeFile, list_files
from evalake_warehouse.lake.schemas import TABLES
from evalake_warehouse.project import Project
from evalake_warehouse.scratch import scratch_folder

_STAYING = frozenset({"looks"})
_MARKS = ("datasets", "runs")  # without their rows there an edition or a run counts no more
_OF_CORPORA = frozenset({"corpora", "corpus_files", "corpus_symbols"})
_SHARED = frozenset({"texts", "text_scores", "text_fingerprints"})  # by the editions of a dataset


@dataclass(frozen=True)
class Removal:
    """What a removal takes."""

    dataset: str
    edition: str | None  # None: the dataset with all its editions
    files: tuple[LakeFile, ...]
    corpora: tuple[Path, ...]  # laid out for this dataset alone
    run_ids: frozenset[str]
    n_attempts: int
    n_looks: int  # files that stay

    @property
    def per_table(self) -> Mapping[str, int]:
        """Files per lake table."""
        return Counter(file.table for file in self.files)

    @property
    def paths(self) -> list[Path]:
        """What is moved, in order: marks, then corpora, which nothing else in the lake names."""
        marks = [file.path for file in self.files if file.table in _MARKS]
        rest = [file.path for file in self.files if file.table not in _MARKS]
        return [*marks, *self.corpora, *rest]

    @property
    def n_bytes(self) -> int:
        """Bytes of all that goes."""
        laid_out = (file for folder in self.corpora for file in folder.rglob("*") if file.is_file())
        return sum(file.size for file in self.files) + sum(f.lstat().st_size for f in laid_out)

    @property
    def corpus_ids(self) -> frozenset[str]:
        """Corpora that no other dataset or edition is asked about."""
        return frozenset(folder.name for folder in self.corpora)


def plan_removal(project: Project, name: str, edition: str | None = None) -> Removal:
    """What removing a dataset, or the edition that begins so, would take.

    Raises:
        UsageError: it is not in the lake, or several editions begin so.
    """
    all_files = list(list_files(project.lake))
    own = [file for file in all_files if file.dataset == name]
    if not own:
        raise absent_dataset(name, ingested_names(project.lake))
    editions = {file.owner for file in own if file.table == "datasets"}
    chosen = None if edition is None else _one_edition(name, edition, editions)
    if chosen is not None and editions == {chosen}:
        chosen = None
    goes = _everything if chosen is None else _of_edition(own, chosen)
    corpora = {file.owner for file in own if file.table == "corpora"}
    corpora -= {f.owner for f in all_files if f.table == "corpora" and f.dataset != name}
    if chosen is not None:
        corpora -= _asked_about(own, editions - {chosen})
    files = [
        file
        for file in own
        if file.table not in _STAYING
        and (file.owner in corpora if chosen and file.table in _OF_CORPORA else goes(file))
    ]
    return Removal(
        dataset=name,
        edition=chosen,
        files=tuple(sorted(files, key=lambda file: file.path)),
        corpora=tuple(
            project.corpora / corpus
            for corpus in sorted(corpora)
            if (project.corpora / corpus).is_dir()
        ),
        run_ids=frozenset(file.owner for file in files if TABLES[file.table].per_run),
        n_attempts=sum(_n_rows(file.path) for file in files if file.table == "attempts"),
        n_looks=sum(file.table in _STAYING for file in own),
    )


def remove(
    project: Project, removal: Removal, *, keep: bool, is_disturbed: Callable[[], bool]
) -> Path | None:
    """Move the planned files out of the lake; the folder they are kept in, or None if deleted.

    Args:
        keep: leave what was taken in `EVALAKE_HOME/removed`, from where it can be put back.
        is_disturbed: whether a sweep began meanwhile; then all is put back.

    Raises:
        UsageError: a sweep began; nothing is gone.
    """
    removed = project.home / "removed"
    removed.mkdir(parents=True, exist_ok=True)
    at = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    name = f"{at}-{file_name(removal.dataset)}"
    if keep:
        target = removed / f"{name}-{uuid.uuid4().hex[:8]}"
        _move(project, removal, target, is_disturbed)
        return target
    with scratch_folder(removed, f".{name}-", suffix=".tmp") as target:
        _move(project, removal, target, is_disturbed)
    return None


def _move(
    project: Project, removal: Removal, target: Path, is_disturbed: Callable[[], bool]
) -> None:
    moved: list[tuple[Path, Path]] = []
    for source in removal.paths:
        place = target / source.relative_to(project.home)
        place.parent.mkdir(parents=True, exist_ok=True)
        source.rename(place)
        moved.append((source, place))
    if is_disturbed():
        for source, place in reversed(moved):
            source.parent.mkdir(parents=True, exist_ok=True)
            place.rename(source)
        shutil.rmtree(target, ignore_errors=True)
        raise UsageError("a sweep began meanwhile; nothing was removed", where=str(project.home))
    _drop_empty_folders(removal)
    shutil.rmtree(project.lake / f".staged-{removal.dataset}", ignore_errors=True)


def _one_edition(name: str, wanted: str, editions: set[str]) -> str:
    found = [edition for edition in editions if edition.startswith(wanted)]
    if len(found) != 1:
        known = ", ".join(sorted(editions)) or "none"
        raise UsageError(f"no single edition {wanted!r} of `{name}`; there are: {known}")
    return found[0]


def _everything(_: LakeFile) -> bool:
    return True


def _of_edition(own: list[LakeFile], edition: str) -> Callable[[LakeFile], bool]:
    runs = {file.owner for file in own if file.table == "runs" and _edition_of(file) == edition}

    def goes(file: LakeFile) -> bool:
        if TABLES[file.table].per_run:
            return file.owner in runs
        return file.owner == edition and file.table not in _SHARED

    return goes


def _edition_of(file: LakeFile) -> str | None:
    """The edition that a run was asked; None where its file cannot be read."""
    try:
        found = pq.ParquetFile(file.path).read(columns=["edition"]).column(0).to_pylist()
    except (OSError, pa.ArrowException):
        return None
    return found[0] if found else None


def _asked_about(own: list[LakeFile], editions: set[str]) -> set[str]:
    """Corpora of the tasks of some editions; all there are where a tasks file cannot be read."""
    found: set[str] = set()
    for file in own:
        if file.table == "tasks" and file.owner in editions:
            try:
                column = pq.ParquetFile(file.path).read(columns=["corpus_id"]).column(0)
            except (OSError, pa.ArrowException):
                return {other.owner for other in own if other.table == "corpora"}
            found.update(column.to_pylist())
    return found


def _n_rows(file: Path) -> int:
    try:
        return int(pq.read_metadata(file).num_rows)
    except (OSError, pa.ArrowException):
        return 0


def _drop_empty_folders(removal: Removal) -> None:
    for day in {file.path.parent for file in removal.files}:
        for leftover in day.glob("*.tmp"):  # of a writer that was killed; none is at work now
            leftover.unlink(missing_ok=True)
        for folder in (day, day.parent):
            with suppress(OSError):  # it holds something that stays
                folder.rmdir()
