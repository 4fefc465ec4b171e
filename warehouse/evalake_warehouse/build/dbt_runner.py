"""Run dbt in this process, on one DuckDB file, writing nothing beside `EVALAKE_HOME`."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalake_warehouse.build.inputs import work_file
from evalake_warehouse.derived import set_aside
from evalake_warehouse.errors import BuildError
from evalake_warehouse.identity import canonical_json
from evalake_warehouse.project import Project
from evalake_warehouse.scratch import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dbt.contracts.graph.manifest import Manifest

# Parsing costs more than building, so commands of one process share its result. Vars are read at
# run time, so a manifest serves any values of them.
_MANIFESTS: dict[Path, Manifest | None] = {}  # by dbt project; None after its first command


@dataclass(frozen=True, slots=True)
class NodeResult:
    """One model, seed or test that dbt ran."""

    name: str
    kind: str
    status: str
    materialized: str | None  # view, table, incremental, seed, test
    seconds: float
    message: str | None
    node: Any  # as dbt has it, with its compiled SQL


class _CrashedError(BuildError):
    """dbt ended with an error that is none of its own."""


def run_dbt(
    project: Project,
    database: Path,
    arguments: Sequence[str],
    *,
    variables: dict[str, Any] | None = None,
    on_node: Callable[[str], None] | None = None,
) -> list[NodeResult]:
    """Run one dbt command against `database` and return what each node did.

    All of dbt's connections are closed when this returns, failed or not, so that the file is
    complete on its own.

    Raises:
        BuildError: a node failed or dbt could not start; every message is in it.
    """
    with _no_collections():
        try:
            return _run_dbt(project, database, arguments, variables or {}, on_node)
        except _CrashedError as error:
            if not _target(project).exists():
                raise
            # What dbt keeps of its parsing is the one thing that it read and did not just write.
            set_aside(project.home, _target(project), f"unfit for dbt ({error.__cause__})")
            _MANIFESTS.pop(project.dbt_project, None)
            return _run_dbt(project, database, arguments, variables or {}, on_node)


def _run_dbt(
    project: Project,
    database: Path,
    arguments: Sequence[str],
    variables: dict[str, Any],
    on_node: Callable[[str], None] | None,
) -> list[NodeResult]:
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager
    from dbt.cli.main import dbtRunner

    def report(event: Any) -> None:
        if on_node and event.info.name in {"LogModelResult", "LogSeedResult", "LogTestResult"}:
            on_node(event.data.node_info.node_name)

    files = {
        "EVALAKE_BUILD_FILE": str(database),
        "EVALAKE_WORK_FILE": str(work_file(database)),
    }
    with _environment(**files):
        runner = dbtRunner(manifest=_manifest(project, variables), callbacks=[report])
        try:
            outcome = runner.invoke(
                [*_global_flags(project), *arguments, *_location_flags(project)]
                + (["--vars", canonical_json(variables)] if variables else [])
            )
        finally:
            DuckDBConnectionManager.close_all_connections()
    if outcome.exception is not None and not str(outcome.exception):
        raise KeyboardInterrupt  # dbt swallows it and leaves an exception without a word
    if outcome.exception is not None:
        is_told = type(outcome.exception).__module__.startswith("dbt")
        kind = BuildError if is_told else _CrashedError
        what = f"dbt could not run: {outcome.exception}"
        raise kind(what, hint="evalake doctor") from outcome.exception
    results = [_node_result(result) for result in getattr(outcome.result, "results", [])]
    failed = [result for result in results if result.status in {"error", "fail", "runtime error"}]
    if failed or not outcome.success:
        raise _failure(failed)
    return results


def share_parsed(source: Project, target: Project) -> None:
    """Copy the source project's parse to the target, so that dbt parses changed files only."""
    parsed, wanted = (_target(project) / "partial_parse.msgpack" for project in (source, target))
    if parsed.is_file() and not wanted.exists():
        with replacing(wanted) as file, parsed.open("rb") as source_file:
            shutil.copyfileobj(source_file, file)


def _manifest(project: Project, variables: dict[str, Any]) -> Manifest | None:
    """The parsed project; None where the command is to parse it.

    That is where it does not parse, which the command then reports, and the first command of a
    process: most are the only one, and parsing apart takes longer. With variables, what dbt keeps
    of a command's own parsing would serve no other values.
    """
    from dbt.cli.main import dbtRunner

    if project.dbt_project not in _MANIFESTS and not variables:
        _MANIFESTS[project.dbt_project] = None
    elif _MANIFESTS.get(project.dbt_project) is None:
        outcome = dbtRunner().invoke([*_global_flags(project), "parse", *_location_flags(project)])
        _MANIFESTS[project.dbt_project] = outcome.result if outcome.success else None
    return _MANIFESTS[project.dbt_project]


def _global_flags(project: Project) -> list[str]:
    return [
        "--quiet",
        "--no-print",
        "--no-use-colors",
        "--no-version-check",
        "--no-send-anonymous-usage-stats",
        "--no-write-json",
        "--log-level", "none",
        "--log-level-file", "none",
        "--log-path", str(project.home / "dbt" / "logs"),
    ]  # fmt: skip


def _location_flags(project: Project) -> list[str]:
    return [
        "--project-dir", str(project.dbt_project),
        "--profiles-dir", str(project.dbt_project),
        "--target-path", str(_target(project)),
    ]  # fmt: skip


def _target(project: Project) -> Path:
    return project.home / "dbt" / "target"


def _node_result(result: Any) -> NodeResult:
    return NodeResult(
        name=result.node.name,
        kind=str(result.node.resource_type),
        status=str(result.status),
        materialized=getattr(result.node.config, "materialized", None),
        seconds=result.execution_time,
        message=result.message,
        node=result.node,
    )


def _failure(failed: Sequence[NodeResult]) -> BuildError:
    lines = [f"{result.kind} {result.name}: {(result.message or '').strip()}" for result in failed]
    return BuildError("\n".join(lines) or "dbt failed", hint="evalake build --full")


@contextmanager
def _no_collections() -> Iterator[None]:
    """Without garbage collection: a seventh of dbt's time, spent on a graph that stays anyway."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
