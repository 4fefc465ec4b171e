"""The build protocol: lock, copy, judge, check, swap. Readers never wait and never see half.

Work happens in `EVALAKE_HOME/build/warehouse.duckdb`, whose name dbt can cache by. Only a
complete file is moved to `warehouse-<build_id>.duckdb`, and only then does the stable name
point to it. A build that dies leaves the old warehouse as it was.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from evalake_warehouse.build.freshness import Changes, find_changes
from evalake_warehouse.build.inputs import finish, prepare, read_state
from evalake_warehouse.build.settings import RELEVANCE_RULES, BuildSettings
from evalake_warehouse.errors import BuildBusyError, BuildError, Problem, UsageError
from evalake_warehouse.identity import canonical_json, new_run_id
from evalake_warehouse.lake.reader import LakeListing, list_lake
from evalake_warehouse.project import Project
from evalake_warehouse.query import current_file, point_to, warehouse_link

_KEEP = 2  # builds that stay on disk, so that a reader's file outlives the next build

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build did."""

    warehouse: Path
    build_id: str | None  # None: nothing had changed
    n_runs: int
    changed_runs: tuple[str, ...]
    rows: dict[str, int] = field(default_factory=dict)  # per mart
    skipped_files: tuple[Problem, ...] = ()


def build(
    project: Project,
    *,
    settings: BuildSettings | None = None,
    scenario: str | None = None,
    full: bool = False,
    wait_s: float = 60.0,
    on_step: Progress | None = None,
) -> BuildResult:
    """Bring the warehouse up to date with the lake.

    Args:
        settings: variables; others than the defaults need a scenario.
        scenario: write this what-if warehouse and leave the default one alone.
        full: judge every run again, from an empty file.
        wait_s: how long to wait for another build.
        on_step: told what happens, in a few words a step.

    Raises:
        UsageError: changed variables without a scenario.
        BuildBusyError: another build held the lock for all of `wait_s`.
        BuildError: a model or a test failed; the warehouse is as it was.
    """
    settings = settings or BuildSettings()
    if settings.changed() and scenario is None:
        changed = " ".join(f"--var {name}={value}" for name, value in settings.changed().items())
        raise UsageError(
            "a changed variable needs a scenario: the default warehouse keeps the default rules",
            where="--var",
            hint=f"evalake build {changed} --scenario NAME",
        )
    step = on_step or (lambda _: None)
    from filelock import FileLock, Timeout

    project.home.mkdir(parents=True, exist_ok=True)
    lock = FileLock(project.home / "build.lock")
    try:
        with lock.acquire(timeout=wait_s):
            return _build_locked(project, settings, scenario, full, step)
    except Timeout as error:
        raise BuildBusyError(
            f"another build has been running for more than {wait_s:g} s",
            where=str(project.home / "build.lock"),
            hint="evalake build --wait 600",
        ) from error


def _build_locked(
    project: Project, settings: BuildSettings, scenario: str | None, full: bool, step: Progress
) -> BuildResult:
    link = warehouse_link(project, scenario)
    current = current_file(link)
    step("reading the lake")
    listing = list_lake(project.home)
    changes = find_changes(project, listing, settings, before=read_state(current), full=full)
    if not changes.is_needed:
        return BuildResult(
            warehouse=link,
            build_id=None,
            n_runs=len(changes.states),
            changed_runs=(),
            skipped_files=listing.problems,
        )
    _derive_texts(project, listing, changes, step)
    build_id = new_run_id()
    database = _working_copy(project, None if changes.is_fresh_start else current)
    rows = _judge(project, database, settings, scenario, build_id, changes, step)
    step("swapping")
    finished = link.with_name(f"{link.stem}{'-' if scenario is None else '@'}{build_id}.duckdb")
    finished.parent.mkdir(parents=True, exist_ok=True)
    database.replace(finished)
    point_to(link, finished)
    _remove_old(link, scenario)
    return BuildResult(
        warehouse=link,
        build_id=build_id,
        n_runs=len(changes.states),
        changed_runs=tuple(changes.run_ids),
        rows=rows,
        skipped_files=listing.problems,
    )


def _derive_texts(
    project: Project, listing: LakeListing, changes: Changes, step: Progress
) -> None:
    """Fingerprint and score the texts that changed runs returned."""
    from evalake_warehouse.relevance.text_fingerprints import fingerprint_missing_texts
    from evalake_warehouse.relevance.text_scores import score_missing_pairs

    run_ids = [state.run_id for state in changes.changed]
    fingerprint_missing_texts(
        project, listing, run_ids, on_progress=lambda i, n: step(f"fingerprinting texts {i}/{n}")
    )
    score_missing_pairs(
        project, listing, run_ids, on_progress=lambda i, n: step(f"scoring text pairs {i}/{n}")
    )


def _working_copy(project: Project, current: Path | None) -> Path:
    database = project.home / "build" / "warehouse.duckdb"
    database.parent.mkdir(parents=True, exist_ok=True)
    for leftover in (database, _wal(database)):
        leftover.unlink(missing_ok=True)
    if current is not None:
        shutil.copyfile(current, database)
    return database


def _judge(
    project: Project,
    database: Path,
    settings: BuildSettings,
    scenario: str | None,
    build_id: str,
    changes: Changes,
    step: Progress,
) -> dict[str, int]:
    import importlib.metadata

    from evalake_warehouse.build.dbt_runner import run_dbt

    # Listed again: the texts derived a moment ago are files too.
    listing = list_lake(project.home)
    prepare(database, listing, changes)
    step("building models")
    results = run_dbt(
        project,
        database,
        ["build", "--exclude-resource-type", "unit_test"],
        variables=settings.changed(),
        on_node=lambda name: step(f"built {name}"),
    )
    rows = finish(
        database,
        changes,
        # Intermediate tables hold the changed runs only, and mean nothing after this build.
        working_tables=[
            result.name
            for result in results
            if result.name.startswith("int_") and result.materialized == "table"
        ],
        meta={
            "build_id": build_id,
            "scenario": scenario,
            "vars_json": canonical_json(settings.model_dump()),
            "relevance_rules": RELEVANCE_RULES,
            "scorer": _scorer(),
            "evalake_version": importlib.metadata.version("evalake"),
            "dbt_version": importlib.metadata.version("dbt-core"),
            "duckdb_version": importlib.metadata.version("duckdb"),
            "n_skipped_files": len(listing.problems),
        },
    )
    if _wal(database).exists():
        raise BuildError("the build file still has a write-ahead log", where=str(database))
    return rows


def _scorer() -> str:
    from evalake_warehouse.relevance.text_scores import SCORER, SCORER_VERSION

    return f"{SCORER} {SCORER_VERSION}"


def _wal(database: Path) -> Path:
    return database.with_name(database.name + ".wal")


def _remove_old(link: Path, scenario: str | None) -> None:
    mark = "-" if scenario is None else "@"
    builds = sorted(link.parent.glob(f"{link.stem}{mark}*.duckdb"))
    for old in builds[:-_KEEP]:
        old.unlink(missing_ok=True)
