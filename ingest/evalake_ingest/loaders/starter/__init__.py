"""starter, the benchmark in the box: hand-written tasks over twelve pinned packages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from evalake_ingest.corpora.packages import Files, PackagesSource, read_packages, read_pins
from evalake_ingest.corpora.symbols import Symbol, module_name, package_dirs, read_symbols
from evalake_ingest.imports.problems import refuse_all
from evalake_ingest.records import DatasetInfo, GoldItem, Loaded, LoadOptions, Qrel, Task
from evalake_warehouse.errors import Problem

VERSION = "1"
_CORPUS = "starter packages"


class StarterGold(BaseModel):
    """One definition."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    symbol: str


class StarterTask(BaseModel):
    """One task as written in YAML."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    kind: Literal["describe", "question"]
    qa_type: Literal["what", "where", "how", "why"] | None = None
    qa_subtype: str | None = None
    query: str = Field(min_length=1)
    gold: list[StarterGold] = Field(min_length=1)
    note: str | None = None


@dataclass
class Starter:
    """Tasks ship with evalake; the corpus is what its own lock installs."""

    name: str = "starter"

    def load(self, options: LoadOptions) -> Loaded:
        """Read the tasks and the packages (from this installation, the cache or --from WHEELS)."""
        folder = Path(str(resources.files(__name__)))
        pins = read_pins(folder / "pins.json")
        written = read_tasks(folder / "tasks")
        packages = read_packages(pins, cache=options.cache, wheels_dir=options.source_dir)
        union = {path: content for files in packages for path, content in files.items()}
        pinned = ", ".join(f"{pin.name} {pin.version}" for pin in pins)
        info = DatasetInfo(
            name=self.name,
            revision=VERSION,
            loader_version="1",
            source="part of evalake",
            licence="Apache-2.0; the packages under their own: BSD-3-Clause, MIT, Apache-2.0",
            citation="evalake starter",
            primary_level="file",
            primary_metric="recall@10",
            default_split="dev",
            caveats=(
                "Small: differences of a few tasks are noise; read the intervals.",
                "Written by a few hands over popular libraries that language models know well.",
            ),
            strata_label="kind x qa_type",
        )
        corpus = PackagesSource(name=_CORPUS, origin=f"wheels: {pinned}", packages=packages)
        return Loaded(info, (corpus,), _tasks(written, union), (), len(written))


LOADER = Starter()


def read_tasks(folder: Path) -> list[tuple[str, StarterTask]]:
    """Every written task, as (source row, task), in a stable order.

    Raises:
        DatasetError: with every task that does not fit, and ids that stand twice.
    """
    problems: list[Problem] = []
    written: list[tuple[str, StarterTask]] = []
    ids: dict[str, str] = {}
    for file in sorted(folder.glob("*.yaml")):
        entries = yaml.safe_load(file.read_text("utf-8")) or []
        for number, entry in enumerate(entries, start=1):
            where = f"{file.name}#{number}"
            try:
                task = TypeAdapter(StarterTask).validate_python(entry)
            except ValidationError as error:
                problems += [
                    Problem(where, f"`{'.'.join(map(str, told['loc']))}`: {told['msg']}")
                    for told in error.errors()
                ]
                continue
            if task.id in ids:
                problems.append(Problem(where, f"id {task.id!r} stands in {ids[task.id]} already"))
            ids.setdefault(task.id, where)
            written.append((where, task))
    refuse_all(problems, str(folder))
    return written


def _tasks(written: list[tuple[str, StarterTask]], union: Files) -> Iterator[Task]:
    packages = package_dirs(union)
    known: dict[str, dict[str, Symbol]] = {}
    for source_row, task in written:
        for place in task.gold:
            if place.path in union and place.path not in known:
                module = module_name(place.path, packages)
                read = read_symbols(place.path, union[place.path], module=module)
                # Of several definitions of one name the last is meant: the one in force.
                known[place.path] = {one.symbol: one for one in read.symbols}
        stratum = "/".join(part for part in (task.kind, task.qa_type) if part)
        yield Task(
            task_id=task.id,
            kind=task.kind,
            query=" ".join(task.query.split()),
            corpus=_CORPUS,
            gold=tuple(
                _gold(place, known.get(place.path, {}).get(place.symbol)) for place in task.gold
            ),
            qa_type=task.qa_type,
            qa_subtype=task.qa_subtype,
            labels={"package": task.gold[0].path.partition("/")[0]},
            stratum=stratum,
            source_row=source_row,
        )


def _gold(place: StarterGold, symbol: Symbol | None) -> GoldItem:
    qrels = [Qrel("symbol", key=f"{place.path}::{place.symbol}", path=place.path)]  # not found
    if symbol is not None:
        name = symbol.qualified_name
        qrels = [
            Qrel("symbol", name, place.path, symbol.start_line, symbol.end_line),
            Qrel("fingerprint", key=symbol.fingerprint),
        ]
    return GoldItem(
        gold_id=f"{place.path}::{place.symbol}",
        level="symbol",
        qrels=tuple(qrels),
        truth_method="written by hand",
    )
