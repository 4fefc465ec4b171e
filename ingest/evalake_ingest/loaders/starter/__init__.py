"""starter, the benchmark in the box: tasks over the source of twelve pinned packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from evalake_ingest.corpora.packages import Files, PackagesSource, read_packages, read_pins
from evalake_ingest.corpora.symbols import Symbol, module_name, package_dirs, read_symbols
from evalake_ingest.originals.problems import refuse_all
from evalake_ingest.records import (
    DatasetInfo,
    Drop,
    GoldItem,
    Loaded,
    LoadFlag,
    LoadOptions,
    Qrel,
    SkippedDocument,
    Task,
)
from evalake_warehouse.errors import DatasetError, Problem
from evalake_warehouse.relevance.fingerprint import FINGERPRINT_RULE

VERSION = "1"
_CORPUS = "starter packages"

Fingerprints = Mapping[str, Mapping[str, str]]  # path -> symbol -> what it was when it was read


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
    takes: frozenset[LoadFlag] = frozenset({"--from"})

    def load(self, options: LoadOptions) -> Loaded:
        """Read the tasks and the packages (from this installation, the cache or --from WHEELS)."""
        folder = Path(str(resources.files(__name__)))
        pins = read_pins(folder / "pins.json")
        written = read_tasks(folder / "tasks")
        fingerprints = read_fingerprints(folder / "fingerprints.yaml", written)
        left_out: list[SkippedDocument] = []
        packages = read_packages(
            pins, cache=options.cache, wheels_dir=options.source_dir, dataset=self.name,
            left_out=left_out,
        )  # fmt: skip
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
                "The packages are popular, and language models know them well.",
            ),
            strata_label="kind x qa_type",
        )
        corpus = PackagesSource(_CORPUS, f"wheels: {pinned}", packages, left_out)
        reader = _Reader(written, union, fingerprints)
        return Loaded(info, (corpus,), reader.tasks(), reader.drops, len(written))


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
    refuse_all(problems)
    return written


def read_fingerprints(file: Path, written: Sequence[tuple[str, StarterTask]]) -> Fingerprints:
    """The fingerprint that every gold definition had when it was read.

    Raises:
        DatasetError: made by another rule, or without one for some gold.
    """
    record = yaml.safe_load(file.read_text("utf-8"))
    if record["rule"] != FINGERPRINT_RULE:
        what = f"fingerprints by rule {record['rule']}, expected {FINGERPRINT_RULE}"
        raise DatasetError(what, where=str(file))
    fingerprints: Fingerprints = record["gold"]
    missing = [
        Problem(where, f"{_gold_id(place)} has no fingerprint")
        for where, task in written
        for place in task.gold
        if place.symbol not in fingerprints.get(place.path, {})
    ]
    refuse_all(missing)
    return fingerprints


@dataclass
class _Reader:
    written: Sequence[tuple[str, StarterTask]]
    files: Files  # of all packages
    fingerprints: Fingerprints
    drops: list[Drop] = field(default_factory=list)

    def tasks(self) -> Iterator[Task]:
        """Tasks with the gold that is in the corpus as it was read; the rest is in `drops`."""
        definitions = self._definitions()
        for source_row, task in self.written:
            gold = []
            for place in task.gold:
                symbol = definitions.get((place.path, place.symbol))
                if symbol and symbol.fingerprint == self.fingerprints[place.path][place.symbol]:
                    gold.append(_gold(place, symbol))
                else:
                    found = "its code is another" if symbol else "nothing of that name"
                    evidence = f"symbol gold {_gold_id(place)}: {found}"
                    drop = Drop(source_row, "fingerprint_not_in_corpus", task.id, evidence)
                    self.drops.append(drop)
            if gold:
                yield _task(task, source_row, tuple(gold))

    def _definitions(self) -> dict[tuple[str, str], Symbol]:
        """Definitions of the files with gold; of several of one name the last one is in force."""
        packages = package_dirs(self.files)
        paths = {place.path for _, task in self.written for place in task.gold}
        return {
            (path, symbol.symbol): symbol
            for path in sorted(paths & self.files.keys())
            for symbol in read_symbols(
                path, self.files[path], module=module_name(path, packages)
            ).symbols
        }


def _task(task: StarterTask, source_row: str, gold: tuple[GoldItem, ...]) -> Task:
    return Task(
        task_id=task.id,
        kind=task.kind,
        query=" ".join(task.query.split()),
        corpus=_CORPUS,
        gold=gold,
        qa_type=task.qa_type,
        qa_subtype=task.qa_subtype,
        labels={"package": task.gold[0].path.partition("/")[0]},
        stratum="/".join(part for part in (task.kind, task.qa_type) if part),
        source_row=source_row,
    )


def _gold(place: StarterGold, symbol: Symbol) -> GoldItem:
    name = symbol.qualified_name
    return GoldItem(
        gold_id=_gold_id(place),
        level="symbol",
        qrels=(
            Qrel("symbol", name, place.path, symbol.start_line, symbol.end_line),
            Qrel("fingerprint", key=symbol.fingerprint),
        ),
        truth_method="written by hand",
    )


def _gold_id(place: StarterGold) -> str:
    return f"{place.path}::{place.symbol}"
