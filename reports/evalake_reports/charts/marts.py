"""Read-only access to the marts: rows as dictionaries, with a few facts about every run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from evalake_warehouse.questions.runs import Run, list_runs

if TYPE_CHECKING:
    from types import TracebackType

    import duckdb

    from evalake_warehouse.project import Project
    from evalake_warehouse.questions.baseline import Baseline


class Marts:
    """The marts of one warehouse file, with the raw lake beside them as `lake.<table>`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, *, macros: Path) -> None:
        self.connection = connection
        self._macros = macros  # the dbt project's, for comparisons made on demand
        self._pair_tests: dict[tuple[str, ...], list[dict[str, Any]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the warehouse file."""
        self.connection.close()

    def rows(self, sql: str, *values: object) -> list[dict[str, Any]]:
        """Rows of a query, each a dictionary in column order."""
        from evalake_warehouse.questions.open_warehouse import rows

        return rows(self.connection, sql, list(values))

    def columns(self, sql: str, *values: object) -> dict[str, Sequence[Any]]:
        """A query's columns by name: for large answers, whose rows cost a dictionary each."""
        cursor = self.connection.execute(sql, list(values))
        names = [column[0] for column in cursor.description or ()]
        found = cursor.fetchall()
        columns = zip(*found, strict=True) if found else ((),) * len(names)
        return dict(zip(names, columns, strict=True))

    def pair_tests(
        self, baseline: Run | Baseline, candidates: Sequence[Run], metric: str
    ) -> list[dict[str, Any]]:
        """Candidates tested against the baseline on a metric: columns of `fct_paired_tests`.

        p is adjusted over the candidates. Several charts and tables ask for the same tests, which
        are made once.
        """
        from evalake_warehouse.questions.pair_tests import pair_tests

        against = baseline.run_id if isinstance(baseline, Run) else baseline.sha256
        key = (against, metric, *ids(candidates))
        if candidates and key not in self._pair_tests:
            self._pair_tests[key] = pair_tests(
                self.connection,
                baseline,
                candidates,
                macros=self._macros,
                primary_metric=metric,
                metrics=[metric],
            )
        return self._pair_tests.get(key, [])

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Every run in the warehouse, oldest first, without its answers."""
        return tuple(reversed(list_runs(self.connection)))

    @cached_property
    def members(self) -> tuple[Run, ...]:
        """Every run once per family, with its role there; the last to come into a family is last.

        A run without a family is here as it is in `runs`.
        """
        by_id = {run.run_id: run for run in self.runs}
        found = self.rows(
            """
            select
                runs.run_id,
                families.family,
                coalesce(families.sweep_id, runs.sweep_id) as sweep_id,
                coalesce(families.role, runs.role) as role,
                coalesce(families.primary_metric, runs.primary_metric) as primary_metric
            from dim_runs as runs
            left join dim_run_families as families on runs.run_id = families.run_id
            order by
                coalesce(families.arrival_id, runs.run_id), runs.run_id, families.family
            """
        )
        return tuple(replace(by_id[row.pop("run_id")], **row) for row in found)

    def with_tasks(self, runs: Iterable[Run]) -> list[Run]:
        """The same runs with the tasks that each has an attempt at."""
        chosen = list(runs)
        found = self.rows(
            """
            select run_id, count(*) as n_seen, bit_xor(hash(task_id)) as task_set
            from (
                select distinct run_id, task_id
                from fct_task_metrics
                where run_id in (select unnest(cast(? as varchar[])))
            )
            group by run_id
            """,
            ids(chosen),
        )
        seen = {row["run_id"]: row for row in found}
        return [
            replace(run, n_seen=row["n_seen"], task_set=row["task_set"])
            if (row := seen.get(run.run_id))
            else run
            for run in chosen
        ]


def open_marts(project: Project | None = None, *, scenario: str | None = None) -> Marts:
    """Open the current warehouse of a project (by default the one that the environment names).

    Raises:
        UsageError: nothing was built yet.
    """
    from evalake_warehouse.project import Project
    from evalake_warehouse.questions.open_warehouse import open_warehouse

    chosen = project or Project.locate()
    connection = open_warehouse(chosen, scenario=scenario)
    return Marts(connection, macros=chosen.dbt_project / "macros")


def ids(runs: Iterable[Run]) -> list[str]:
    """Run ids, to bind as one list parameter."""
    return [run.run_id for run in runs]
