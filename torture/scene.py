"""A small lake to torture: where it is, what is done to it, and what it holds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torture.forked import Place, ask, run

PROJECT = Path(__file__).resolve().parents[1]
N_TASKS = 24
DATASET = "steady"
Rows = dict[str, list[str]]

# What differs between two runs of one thing, by its nature.
_OF_ITS_TIME = frozenset(
    {
        "run_id", "at", "started_at", "ingested_at", "created_at", "looked_at", "arrival_id",
        "batch", "seconds", "n_concurrent", "host_json", "command", "bytes_on_disk", "cache_hit",
        "attempt", "packages_json",
    }
)  # fmt: skip
_SWEEP = """\
name: torture
datasets: [{dataset: steady, split: all}]
arms:
  - {system: "python:torture.system", label: plain}
  - {system: "python:torture.system", label: turned, config: {turn: 3}}
  - {system: random}
baseline: plain
depth: 5
"""


@dataclass(frozen=True)
class Scene:
    """One folder with a home in it, and homes that were saved."""

    folder: Path

    @property
    def home(self) -> Path:
        """The home at work; always the same path, which dbt caches by."""
        return self.folder / "home"

    @property
    def place(self) -> Place:
        """What a fork sees."""
        return Place(self.folder, self._environment())

    def _environment(self) -> dict[str, str]:
        return {
            "EVALAKE_HOME": str(self.home),
            "EVALAKE_PROJECT_DIR": str(PROJECT),
            "EVALAKE_BASELINES": str(self.folder / "baselines"),
            "EVALAKE_LOOKS": str(self.home / "looks.jsonl"),
            "EVALAKE_CACHE": str(self.folder / "cache"),
            "PYTHONPATH": str(PROJECT),
        }

    def lay_out(self) -> None:
        """The input files of every campaign."""
        corpus = self.folder / "corpus"
        corpus.mkdir(parents=True)
        for number in range(12):
            body = f'def topic{number}():\n    """Topic {number}."""\n    return {number}\n'
            (corpus / f"mod_{number:02d}.py").write_text(body)
        _write_lines(self.folder / "tasks.jsonl", (_task(number) for number in range(N_TASKS)))
        _write_lines(self.folder / "answers.jsonl", (_answer(number) for number in range(N_TASKS)))
        (self.folder / "sweep.yaml").write_text(_SWEEP)
        (self.folder / "baselines").mkdir()

    def save(self, name: str) -> None:
        """Keep the home as it is, and the frozen baselines with it."""
        shutil.rmtree(self.folder / f"saved-{name}", ignore_errors=True)
        shutil.copytree(self.home, self.folder / f"saved-{name}" / "home", symlinks=True)
        shutil.copytree(self.folder / "baselines", self.folder / f"saved-{name}" / "baselines")

    def restore(self, name: str) -> None:
        """Go back to a home that was saved."""
        for part in ("home", "baselines", "tmp"):
            shutil.rmtree(self.folder / part, ignore_errors=True)
        shutil.copytree(
            self.folder / f"saved-{name}", self.folder, dirs_exist_ok=True, symlinks=True
        )

    def do(self, *arguments: str) -> None:
        """A command that must succeed.

        Raises:
            AssertionError: it did not; with all that it said.
        """
        ended = run(command(*arguments), self.place)
        if ended.code != 0:
            raise AssertionError(f"evalake {' '.join(arguments)}: {ended.code}\n{ended.said}")


def command(*arguments: str) -> Callable[[Callable[[str], None]], int]:
    """A command line as a piece of work."""

    def work(_: Callable[[str], None]) -> int:
        from evalake_cli.main import run_cli

        return int(run_cli(list(arguments)))

    return work


def sweep(verb: str = "run") -> Callable[[Callable[[str], None]], int]:
    """The sweep as a piece of work."""
    return command(verb, "sweep.yaml", "--confirm", "torture")


IMPORT_DATASET = ("import", "jsonl", "--dataset", DATASET, "--tasks", "tasks.jsonl", "--corpus",
                  "corpus")  # fmt: skip
IMPORT_RUN = ("import", "jsonl", "--dataset", DATASET, "--run", "answers.jsonl", "--label",
              "imported", "--depth", "5")  # fmt: skip


def lake_rows(scene: Scene) -> Rows:
    """Every row of the lake that counts, without what differs between two runs of one thing."""

    def question() -> Rows:
        import pyarrow.parquet as pq

        from evalake_warehouse.lake.reader import list_lake

        listing = list_lake(scene.home)
        if listing.problems:
            raise AssertionError(str(listing.problems))
        found: Rows = {}
        last = _last_attempts(listing.paths("attempts"))
        for table, files in listing.by_table.items():
            rows = [row for file in files for row in pq.ParquetFile(file.path).read().to_pylist()]
            found[table] = sorted(_told(row) for row in rows if _counts(row, last))
        return found

    return ask(question, scene.place)


def warehouse_rows(scene: Scene) -> Rows:
    """Number and hash of the rows of every mart, as a reader sees them now."""

    def question() -> Rows:
        from evalake_warehouse.project import Project
        from evalake_warehouse.questions.open_warehouse import open_warehouse

        with open_warehouse(Project(home=scene.home, data_dir=PROJECT)) as connection:
            tables = connection.execute(
                "select table_name, list(if(data_type = 'DOUBLE', "
                "'round(\"' || column_name || '\", 7)', '\"' || column_name || '\"')) "
                "from duckdb_columns() where database_name = 'warehouse' and schema_name = 'main' "
                "and (table_name like 'fct%' or table_name like 'dim%') group by table_name"
            ).fetchall()
            return {
                table: [
                    str(value)
                    for value in connection.execute(
                        f"select count(*), bit_xor(hash({', '.join(sorted(columns))})) "
                        f'from warehouse."{table}"'
                    ).fetchone()
                    or ()
                ]
                for table, columns in tables
            }

    return ask(question, scene.place)


def left_behind(scene: Scene) -> list[str]:
    """Files and folders that nobody will use: of writers that were killed."""
    found = [*scene.home.rglob("*.tmp"), *scene.home.rglob(".*.tmp"), *scene.home.rglob("*.wal")]
    found += [*scene.home.glob("lake/.staged-*"), *(scene.folder / "baselines").glob("*.tmp")]
    found += list((scene.folder / "tmp").iterdir()) if (scene.folder / "tmp").is_dir() else []
    return sorted({str(path.relative_to(scene.folder)) for path in found})


def _last_attempts(files: Iterable[Path]) -> dict[tuple[str, str], int]:
    """The attempt that counts of each run and task: the latest that answered, else the latest."""
    import pyarrow.parquet as pq

    best: dict[tuple[str, str], tuple[bool, int]] = {}
    for file in files:
        for row in pq.ParquetFile(file).read().to_pylist():
            key = row["run_id"], row["task_id"]
            this = row["status"] in {"ok", "empty"}, row["attempt"]
            if best.get(key) == this:
                raise AssertionError(f"attempt {this[1]} of task {key[1]} is in the lake twice")
            best[key] = max(best.get(key, this), this)
    return {key: attempt for key, (_, attempt) in best.items()}


def _counts(row: dict[str, Any], last: dict[tuple[str, str], int]) -> bool:
    if "ingestion_hash" in row:
        return bool(row["status"] == "ok")
    if "attempt" not in row:
        # A run that was resumed has several ends, and a look for each beginning.
        return row.get("event") in {None, "started"} and "looked_at" not in row
    return last.get((row["run_id"], row["task_id"])) == row["attempt"]


def _told(row: dict[str, Any]) -> str:
    told = {key: value for key, value in row.items() if key not in _OF_ITS_TIME}
    return json.dumps(told, sort_keys=True, default=str)


def _task(number: int) -> dict[str, Any]:
    gold = [{"path": f"mod_{number % 12:02d}.py"}]
    query = f"Where is topic {number} handled?"
    return {"task_id": f"task-{number:03d}", "query": query, "gold": gold}


def _answer(number: int) -> dict[str, Any]:
    paths = (number, number + 1, number + 5)
    hits = [{"path": f"mod_{path % 12:02d}.py", "text": f"found {path}"} for path in paths]
    return {"task_id": f"task-{number:03d}", "hits": hits}


def _write_lines(file: Path, rows: Iterable[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
