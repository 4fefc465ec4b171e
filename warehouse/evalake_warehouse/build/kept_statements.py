"""The SQL that dbt made of the models, kept so that later builds run it without dbt.

dbt owns the models: it orders, compiles and checks them. What it made of one state of the code and
one set of variables serves every build with these, since no model's SQL depends on the data. Kept
in the cache, which all projects of a user share; whatever is damaged there is made again.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from evalake_warehouse.build.settings import BuildSettings
from evalake_warehouse.identity import content_hash
from evalake_warehouse.project import Project
from evalake_warehouse.scratch import replacing

if TYPE_CHECKING:
    from evalake_warehouse.build.dbt_runner import NodeResult

_FORMAT = 1
_KEPT_FILES = 20
_PROJECT_SUFFIXES = frozenset({".sql", ".py", ".csv", ".yml"})
_COMPILED_BY = ("dbt-core", "dbt-duckdb", "duckdb", "evalake")
_PLAIN_TEST = {"fail_calc": "count(*)", "warn_if": "!= 0", "error_if": "!= 0", "limit": None}


class Statement(BaseModel):
    """One seed, model or data test, ready to run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    kind: str  # seed, model or test
    materialized: str  # seed, view, table, incremental or test
    relation: str = ""  # database.schema.name, quoted; empty for a test
    sql: str | None = None  # a query; None for a seed and for the model that numpy computes
    columns: str | None = None  # a seed's or a contract's, as DDL in parentheses
    file: str | None = None  # of a seed, relative to the dbt project
    meta: dict[str, Any] = {}  # settings of the model that numpy computes


class _Kept(BaseModel):
    model_config = ConfigDict(extra="forbid")

    statements: tuple[Statement, ...]


class KeptStatements:
    """What is kept for one state of the code, one set of variables and one selection of models."""

    def __init__(self, project: Project, settings: BuildSettings, models: Sequence[str]) -> None:
        self._folder = project.cache / "statements"
        self.file = self._folder / f"{_key(project, settings, models)}.json"

    def read(self) -> tuple[Statement, ...] | None:
        """The statements in the order to run them in, seeds among them; None for none kept."""
        try:
            return _Kept.model_validate_json(self.file.read_bytes()).statements
        except (OSError, ValidationError):
            return None

    def write(self, statements: Sequence[Statement]) -> None:
        """Keep what a build from an empty file ran; without a cache to write to, do nothing."""
        with suppress(OSError):
            with replacing(self.file) as file:
                file.write(_Kept(statements=tuple(statements)).model_dump_json().encode())
            by_age = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
            for old in by_age[:-_KEPT_FILES]:
                old.unlink(missing_ok=True)


def to_statements(
    results: Sequence[NodeResult], declared: dict[str, str]
) -> tuple[Statement, ...] | None:
    """What dbt's nodes ran, in their order; None if one of them is of a sort that is not kept.

    Args:
        declared: columns of each table of the warehouse as DDL, by the table's name.
    """
    kept = []
    for result in results:
        node = result.node
        is_seed, is_python = result.kind == "seed", node.language == "python"
        is_table = node.config["materialized"] in ("table", "incremental")
        has_columns = is_seed or (is_table and node.contract.enforced)
        if result.kind == "test" and any(
            node.config.get(name, default) != default for name, default in _PLAIN_TEST.items()
        ):
            return None
        kept.append(
            Statement(
                name=result.name,
                kind=result.kind,
                materialized=node.config["materialized"],
                relation="" if result.kind == "test" else node.relation_name,
                sql=None if is_seed or is_python else node.compiled_code,
                columns=declared[result.name] if has_columns else None,
                file=node.original_file_path if is_seed else None,
                meta=node.config.get("meta", {}) if is_python else {},
            )
        )
    return tuple(kept)


def _key(project: Project, settings: BuildSettings, models: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for root in (project.models, project.dbt_project):
        for path in sorted(root.rglob("*")):
            if path.suffix in _PROJECT_SUFFIXES and path.is_file():
                digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    versions = {name: importlib.metadata.version(name) for name in _COMPILED_BY}
    parts = [_FORMAT, digest.hexdigest(), settings.model_dump(), list(models), versions]
    return content_hash(parts)
