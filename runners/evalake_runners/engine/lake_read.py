"""What the engine reads back from the lake: datasets, tasks, and what earlier runs did."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb

from evalake_ingest.imports.options import is_imported_source
from evalake_ingest.names import absent_dataset
from evalake_runners.engine.lake_rows import CellKey, DatasetRow, PastRun, TaskRow
from evalake_warehouse.errors import UsageError
from evalake_warehouse.lake.editions import editions_in
from evalake_warehouse.lake.reader import LakeListing, list_lake, relation_sql, sql_literal
from evalake_warehouse.lake.tries import counted_try
from evalake_warehouse.lake.wordings import (
    DEFAULT_VARIANT,
    Questions,
    read_questions,
    read_splits,
)


class LakeView:
    """The lake as it is now, asked with SQL; reads footers once and never writes evidence."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.listing: LakeListing = list_lake(home)
        self._events_of: dict[str, list[dict[str, Any]]] = {}
        self._questions: dict[tuple[str, str], dict[str, Questions]] = {}
        self._splits: dict[str, dict[str, dict[str, set[str]]]] = {}

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        return duckdb.connect()

    def dataset(self, name: str, edition: str | None = None) -> DatasetRow:
        """The latest edition of a dataset, or the one whose id begins with `edition`.

        Raises:
            UsageError: it was not ingested.
        """
        rows = editions_in(self._paths("datasets", None))
        mine = [row for row in rows if row["dataset"] == name]
        if not mine:
            raise absent_dataset(name, sorted({row["dataset"] for row in rows}))
        wanted = [row for row in mine if edition is None or row["edition"].startswith(edition)]
        if not wanted:
            known = [row["edition"][:12] for row in mine]
            raise UsageError(f"`{name}` has no edition `{edition}`; there are: {', '.join(known)}")
        names = ("dataset", "edition", "primary_metric", "primary_level", "default_split")
        is_imported = is_imported_source(wanted[0]["source"])
        return DatasetRow(
            **{column: wanted[0][column] for column in names}, is_imported=is_imported
        )

    def tasks(self, dataset: DatasetRow, split: str) -> list[TaskRow]:
        """Tasks of one split, in an order that does not depend on how they were ingested."""
        edition = sql_literal(dataset.edition)
        chosen = "true"
        if split != "all":
            splits = relation_sql("splits", self._paths("splits", dataset.dataset))
            chosen = (
                f"task_id in (select task_id from ({splits}) "
                f"where edition = {edition} and split = {sql_literal(split)})"
            )
        rows = self._rows(
            "tasks",
            "select task_id, task_seed, query, query_variants_json, corpus_id, repo, library, kind "
            f"from t where edition = {edition} and {chosen} order by task_seed, task_id",
            dataset=dataset.dataset,
        )
        return [
            TaskRow(
                task_id=row["task_id"],
                seed=row["task_seed"],
                query=row["query"],
                query_variants=json.loads(row["query_variants_json"]),
                corpus_id=row["corpus_id"],
                repo=row["repo"],
                library=row["library"],
                kind=row["kind"],
            )
            for row in rows
        ]

    def splits(self, dataset: DatasetRow) -> list[str]:
        """Names of the splits that the edition has, `all` included."""
        rows = self._rows(
            "splits",
            f"select distinct split from t where edition = {sql_literal(dataset.edition)} "
            "order by split",
            dataset=dataset.dataset,
        )
        return [*(row["split"] for row in rows), "all"]

    def questions(self, dataset: str, variant: str) -> Mapping[str, Questions]:
        """What the tasks of each edition of a dataset ask, in one wording."""
        key = dataset, variant
        if key not in self._questions:
            self._questions[key] = read_questions(self._paths("tasks", dataset), variant)
        return self._questions[key]

    def selection(self, dataset: str, edition: str) -> str | None:
        """The part of the benchmark that an edition was loaded with; None for all of it."""
        rows = editions_in(self._paths("datasets", dataset))
        return next((row["selection_json"] for row in rows if row["edition"] == edition), None)

    def split_of(self, dataset: str, edition: str, split: str) -> set[str]:
        """Task ids of one split of an edition."""
        if split == "all":
            return set(self.questions(dataset, DEFAULT_VARIANT).get(edition, ()))
        if dataset not in self._splits:
            self._splits[dataset] = read_splits(self._paths("splits", dataset))
        return self._splits[dataset].get(edition, {}).get(split, set())

    def past_runs(self, keys: Iterable[CellKey]) -> dict[CellKey, list[PastRun]]:
        """Earlier runs of some cells, on any edition, latest first, with what became of tasks."""
        wanted = set(keys)
        found: dict[CellKey, list[PastRun]] = {}
        by_id: dict[str, PastRun] = {}
        for dataset in sorted({key[1] for key in wanted}):
            for row in self._events(dataset):
                if run := by_id.get(row["run_id"]):
                    run.finished |= row["event"] == "finished"
                    # A finished row names the sweep that ended the run, which need not be in it.
                    run.families |= {row["family"]} if row["event"] == "joined" else set()
                    continue
                if row["event"] != "started":
                    continue
                names = ("split", "seed", "repeat")
                split, seed, repeat = (row[name] for name in names)
                key: CellKey = (row["arm_hash"], dataset, split, seed, repeat)
                if key in wanted:
                    run = PastRun(
                        row["run_id"],
                        row["n_tasks"],
                        finished=False,
                        label=row["arm_label"],
                        edition=row["edition"],
                        system=row["system"],
                        query_variant=row["query_variant"],
                    )
                    run.families.add(row["family"])
                    by_id[run.run_id] = run
                    found.setdefault(key, []).append(run)
            self._add_statuses(by_id)
        return found

    def repeats(self, key: CellKey) -> set[int]:
        """Numbers of the repeats of a cell that were begun, with whatever tasks."""
        arm_hash, dataset, split, seed, _ = key
        return {
            row["repeat"]
            for row in self._events(dataset)
            if (row["arm_hash"], row["split"], row["seed"]) == (arm_hash, split, seed)
        }

    def _add_statuses(self, runs: Mapping[str, PastRun]) -> None:
        """Status per task; a task whose hits are gone from the lake counts as never asked."""
        counted = self._run_rows(
            "hits",
            runs,
            "select run_id, task_id, attempt, count(*) as n_hits from t "
            "group by run_id, task_id, attempt",
        )
        present = {
            (row["run_id"], row["task_id"], row["attempt"]): row["n_hits"] for row in counted
        }
        for row in self._run_rows(
            "attempts",
            runs,
            "select run_id, edition, task_id, attempt, status, n_hits from t "
            f"qualify {counted_try('run_id, edition, task_id')} order by attempt",
        ):
            if row["n_hits"] <= present.get((row["run_id"], row["task_id"], row["attempt"]), 0):
                tries = runs[row["run_id"]].tries.setdefault(row["edition"], {})
                tries[row["task_id"]] = row["status"]

    def last_attempts(self, run_id: str) -> dict[str, int]:
        """The highest attempt number of each task, hits that were never committed included.

        A kill between hits and attempts leaves hits behind; a new try must not share their
        number, or the next attempts row would commit both.
        """
        last: dict[str, int] = {}
        for table in ("attempts", "hits", "timings"):
            sql = "select task_id, max(attempt) as attempt from t group by task_id"
            for row in self._run_rows(table, [run_id], sql):
                last[row["task_id"]] = max(last.get(row["task_id"], 0), row["attempt"])
        return last

    def next_part(self, run_id: str) -> int:
        """The first part number that no file of the run has."""
        parts = (file.stem[len(run_id) + 1 :] for file in self.listing.by_run.get(run_id, ()))
        return 1 + max((int(part) for part in parts if part.isdigit()), default=0)

    def indexed_corpora(self, run_id: str) -> set[str]:
        """Corpora whose indexing the run has recorded as done."""
        sql = "select distinct corpus_id from t where status = 'ok'"
        return {row["corpus_id"] for row in self._run_rows("index_events", [run_id], sql)}

    def known_texts(self, dataset: str) -> set[str]:
        """Hashes of the texts that the lake has for a dataset."""
        rows = self._rows("texts", "select distinct text_sha256 from t", dataset=dataset)
        return {row["text_sha256"] for row in rows}

    def search_seconds(self, arm_hash: str, dataset: str) -> float | None:
        """Mean seconds of one search in earlier runs of an arm on a dataset."""
        runs = {row["run_id"] for row in self._events(dataset) if row["arm_hash"] == arm_hash}
        sql = "select avg(seconds) as mean from t where phase = 'search'"
        rows = self._run_rows("timings", runs, sql)
        return rows[0]["mean"] if rows else None

    @cached_property
    def index_seconds(self) -> Mapping[tuple[str, str], float]:
        """Mean seconds to build each (ingestion, corpus) so far; reused indexes left out."""
        rows = self._rows(
            "index_events",
            "select ingestion_hash, corpus_id, avg(seconds) as mean from t "
            "where seconds is not null group by ingestion_hash, corpus_id",
        )
        return {(row["ingestion_hash"], row["corpus_id"]): row["mean"] for row in rows}

    def looks(self) -> list[dict[str, Any]]:
        """Every use of the test tail, latest first."""
        return self._rows("looks", "select * from t order by looked_at desc")

    def spent(self, run_ids: Iterable[str]) -> tuple[int, float]:
        """Tool calls that some runs have made so far, and what all of it cost in US dollars."""
        sql = (
            "select cast(coalesce(sum(n_tool_calls), 0) as bigint) as n_calls, "
            "coalesce(sum(cost_usd), 0.0) as cost_usd from t"
        )
        rows = self._run_rows("attempts", run_ids, sql)
        return (rows[0]["n_calls"], float(rows[0]["cost_usd"])) if rows else (0, 0.0)

    def _events(self, dataset: str) -> list[dict[str, Any]]:
        """Run events of a dataset, `started` ones first, latest run first; read once."""
        if dataset not in self._events_of:
            self._events_of[dataset] = self._rows(
                "runs",
                "select run_id, event, arm_hash, arm_label, system, query_variant, edition, split, "
                "seed, repeat, n_tasks, family from t "
                "order by event desc, run_id desc",
                dataset=dataset,
            )
        return self._events_of[dataset]

    def _run_rows(self, table: str, run_ids: Iterable[str], sql: str) -> list[dict[str, Any]]:
        by_run = self.listing.by_run
        paths = [
            file.path for run in run_ids for file in by_run.get(run, ()) if file.table == table
        ]
        return self._query(relation_sql(table, paths), sql) if paths else []

    def _rows(self, table: str, sql: str, dataset: str | None = None) -> list[dict[str, Any]]:
        paths = self._paths(table, dataset)
        return self._query(relation_sql(table, paths), sql) if paths else []

    def _query(self, relation: str, sql: str) -> list[dict[str, Any]]:
        # Literals, not parameters: DuckDB imports pandas, a second where it is installed, to
        # look at the type of each parameter.
        result = self._connection.execute(f"with t as ({relation}) {sql}")
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def _paths(self, table: str, dataset: str | None) -> list[Path]:
        return self.listing.paths(table, datasets=None if dataset is None else [dataset])
