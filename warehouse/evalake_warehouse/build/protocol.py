"""The build protocol: lock, copy, judge, check, swap. Readers never wait and never see half.

Work happens in `EVALAKE_HOME/build/warehouse.duckdb`, whose name dbt can cache by, beside a file
for what the build alone needs. Only a complete file is moved to `warehouse-<build_id>.duckdb`, and
only then does the stable name point to it. A build that dies leaves the old warehouse as it was.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalake_warehouse.build.baseline_tables import frozen_work
from evalake_warehouse.build.batches import plan_batches
from evalake_warehouse.build.freshness import Changes, WarehouseState, find_changes
from evalake_warehouse.build.inputs import (
    finish,
    lay_batch,
    prepare,
    read_state,
    read_variables,
    work_file,
)
from evalake_warehouse.build.kept_statements import KeptStatements, to_statements
from evalake_warehouse.build.replay import declared_columns, replay
from evalake_warehouse.build.settings import RELEVANCE_RULES, BuildSettings
from evalake_warehouse.build.starting import find_start, forget_copy, remember_sound
from evalake_warehouse.errors import BuildBusyError, BuildError, Problem, UsageError
from evalake_warehouse.identity import canonical_json
from evalake_warehouse.lake.arrivals import next_id
from evalake_warehouse.lake.reader import LakeListing, list_lake
from evalake_warehouse.leftovers import sweep_leftovers
from evalake_warehouse.project import Project
from evalake_warehouse.questions.baseline import list_baselines
from evalake_warehouse.questions.warehouse_files import (
    build_file,
    builds,
    point_to,
    warehouse_link,
)
from evalake_warehouse.relevance.text_scores import SCORER, SCORER_VERSION

_KEEP = 2  # builds that stay on disk, so that a reader's file outlives the next build

# Unit tests judge the code and not the lake; an exposure is a name for who reads the marts.
NOT_BUILT = ("--exclude-resource-type", "unit_test", "--exclude-resource-type", "exposure")

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build did."""

    warehouse: Path
    build_id: str | None  # None: nothing had changed
    n_runs: int
    changed_runs: tuple[str, ...]  # judged
    removed_runs: tuple[str, ...] = ()  # the lake has no record of them any more
    rows: dict[str, int] = field(default_factory=dict)  # per mart
    skipped_files: tuple[Problem, ...] = ()
    variables: dict[str, Any] = field(default_factory=dict)  # that differ from the defaults


def build(
    project: Project,
    *,
    settings: BuildSettings | None = None,
    scenario: str | None = None,
    models: Sequence[str] = (),
    full: bool = False,
    with_dbt: bool = False,
    wait_s: float = 60.0,
    on_step: Progress | None = None,
) -> BuildResult:
    """Bring the warehouse up to date with the lake.

    Args:
        settings: variables; others than the defaults need a scenario.
        scenario: write this what-if warehouse and leave the default one alone. It keeps the
            variables it was built with, but for those that `settings` was given.
        models: make these only, as dbt selects them (`+fct_task_metrics`); empty for all. The
            next build of all starts from an empty file.
        full: judge every run again, from an empty file.
        with_dbt: let dbt run the models, and not what it made of them before.
        wait_s: how long to wait for another build.
        on_step: told what happens, in a few words a step.

    Raises:
        UsageError: changed variables without a scenario.
        ConfigError: a variable that a scenario keeps is no longer allowed.
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
    from filelock import FileLock, Timeout

    project.home.mkdir(parents=True, exist_ok=True)
    lock = FileLock(project.home / "build.lock")
    try:
        with lock.acquire(timeout=wait_s):
            sweep_leftovers(project)
            start = find_start(project, scenario, with_variables=not settings.changed())
            if scenario is not None:
                settings = settings.over(read_variables(start))
            step = on_step or (lambda _: None)
            job = _Build(project, settings, scenario, tuple(models), step, with_dbt)
            try:
                return job.run(start, full=full)
            finally:
                forget_copy(project)
    except Timeout as error:
        raise BuildBusyError(
            f"another build has been running for more than {wait_s:g} s",
            where=str(project.home / "build.lock"),
            hint="evalake build --wait 600",
        ) from error


@dataclass(frozen=True)
class _Build:
    """One build, while the lock is held."""

    project: Project
    settings: BuildSettings
    scenario: str | None
    models: tuple[str, ...]
    step: Progress
    with_dbt: bool

    def run(self, start: Path | None, *, full: bool) -> BuildResult:
        link = warehouse_link(self.project, self.scenario)
        self.step("reading the lake")
        listing = list_lake(self.project.home)
        baselines, problems = list_baselines(self.project.baselines)
        before = read_state(start)
        changes = find_changes(
            self.project,
            listing,
            self.settings,
            before=before,
            baselines=baselines,
            models=self.models,
            full=full,
        )
        build_id, rows = None, {}
        if changes.is_needed:
            lost_texts = self._derive_texts(listing, changes)
            build_id = next_id(self.project.home)
            database = self._working_copy(None if changes.is_fresh_start else start)
            rows = self._judge(database, build_id, changes, before, lost_texts)
            self.step("swapping")
            self._swap(database, link, build_id)
        return BuildResult(
            warehouse=link,
            build_id=build_id,
            n_runs=len(changes.states),
            changed_runs=tuple(state.run_id for state in changes.changed),
            removed_runs=changes.vanished,
            rows=rows,
            skipped_files=(*listing.problems, *problems),
            variables=self.settings.changed(),
        )

    def _derive_texts(self, listing: LakeListing, changes: Changes) -> set[str]:
        """Fingerprint and score the texts that changed runs returned; datasets that lost some."""
        from evalake_warehouse.relevance.text_fingerprints import fingerprint_missing_texts
        from evalake_warehouse.relevance.text_scores import score_missing_pairs

        editions = {state.run_id: state.edition for state in changes.changed}
        lost = fingerprint_missing_texts(
            self.project,
            listing,
            editions,
            on_progress=lambda done, of: self.step(f"fingerprinting texts {done}/{of}"),
        )
        return lost | score_missing_pairs(
            self.project,
            listing,
            editions,
            on_progress=lambda done, of: self.step(f"scoring text pairs {done}/{of}"),
        )

    def _working_copy(self, current: Path | None) -> Path:
        database = self.project.home / "build" / "warehouse.duckdb"
        database.parent.mkdir(parents=True, exist_ok=True)
        for leftover in (database, work_file(database)):
            leftover.unlink(missing_ok=True)
            _wal(leftover).unlink(missing_ok=True)
        if current is not None:
            shutil.copyfile(current, database)
        return database

    def _judge(
        self,
        database: Path,
        build_id: str,
        changes: Changes,
        before: WarehouseState,
        lost_texts: set[str],
    ) -> dict[str, int]:
        # Listed again: the texts derived a moment ago are files too.
        listing = list_lake(self.project.home)
        prepare(database, listing, changes)
        members = frozenset() if changes.is_fresh_start else before.members
        batches = plan_batches(
            listing, changes, members_before=members, frozen=frozen_work(database, changes)
        )
        unread: set[str] = set()
        for number, batch in enumerate(batches, start=1):
            prefix = f"batch {number}/{len(batches)}: " if len(batches) > 1 else ""
            self.step(f"{prefix}building models")
            unread |= lay_batch(database, listing, changes, batch, lost_texts=lost_texts)
            self._run_models(database, prefix, seeds=changes.is_fresh_start and number == 1)
        rows = finish(database, changes, unread=unread, meta=self._meta(build_id, listing))
        if _wal(database).exists():
            raise BuildError("the build file still has a write-ahead log", where=str(database))
        work_file(database).unlink()
        return rows

    def _run_models(self, database: Path, prefix: str, *, seeds: bool) -> None:
        def on_node(name: str) -> None:
            self.step(f"{prefix}built {name}")

        kept = KeptStatements(self.project, self.settings, self.models)
        statements = None if self.with_dbt else kept.read()
        if statements is not None:
            replay(self.project, database, statements, seeds=seeds, on_node=on_node)
            return
        from evalake_warehouse.build.dbt_runner import run_dbt  # half of a small build's time

        results = run_dbt(
            self.project,
            database,
            ["build", *NOT_BUILT, *self._selection(seeds=seeds)],
            variables=self.settings.changed(),
            on_node=on_node,
        )
        made = to_statements(results, declared_columns(database)) if seeds else None
        if made is not None:
            kept.write(made)

    def _selection(self, *, seeds: bool) -> list[str]:
        # Seeds are code: the file that was copied has them unless everything is new.
        excluded = [] if seeds else ["--exclude", "resource_type:seed"]
        if not self.models:
            return excluded
        # A test that also reads a model left out would fail on a table that is not there.
        return ["--select", *self.models, "--indirect-selection", "cautious", *excluded]

    def _meta(self, build_id: str, listing: LakeListing) -> dict[str, Any]:
        import importlib.metadata

        return {
            "build_id": build_id,
            "scenario": self.scenario,
            "vars_json": canonical_json(self.settings.model_dump()),
            "relevance_rules": RELEVANCE_RULES,
            "scorer": f"{SCORER} {SCORER_VERSION}",
            "evalake_version": importlib.metadata.version("evalake"),
            "dbt_version": importlib.metadata.version("dbt-core"),
            "duckdb_version": importlib.metadata.version("duckdb"),
            "n_skipped_files": len(listing.problems),
        }

    def _swap(self, database: Path, link: Path, build_id: str) -> None:
        finished = build_file(self.project, self.scenario, build_id)
        finished.parent.mkdir(parents=True, exist_ok=True)
        database.replace(finished)
        remember_sound(self.project, finished)
        point_to(link, finished)
        for old in builds(self.project, self.scenario)[:-_KEEP]:
            old.unlink(missing_ok=True)


def _wal(database: Path) -> Path:
    return database.with_name(database.name + ".wal")
