"""RepoQA-structural: from a needle's description to what is one hop from it in the call graph."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from evalake_ingest.corpora.symbols import (
    Symbol,
    by_length,
    module_name,
    package_dirs,
    read_symbols,
)
from evalake_ingest.loaders.repoqa import read_release, repo_corpus
from evalake_ingest.originals.original_files import Original, find_originals
from evalake_ingest.originals.selection import check_repos, select_repo
from evalake_ingest.originals.source_rows import SourceRow
from evalake_ingest.records import (
    DatasetInfo,
    Drop,
    DropReason,
    GoldItem,
    Loaded,
    LoadFlag,
    LoadOptions,
    Qrel,
    Task,
)
from evalake_warehouse.errors import DatasetError
from evalake_warehouse.relevance.fingerprint import fingerprint_source
from evalake_warehouse.vocabulary import GoldRole

REVISION = "be9bf68dc2d885734c5027bc7dd6a467515c93d3"  # of msobroza/pydocs-mcp
_FILE = Original(
    name="structural_recall.json",
    sha256="0742cdd6552b79cce71d1937ad20e01a3a107750db20e08e752db36f915e5967",
    url=f"https://raw.githubusercontent.com/msobroza/pydocs-mcp/{REVISION}"
    "/benchmarks/fixtures/structural_recall.json",
    paths=("repoqa-structural/structural_recall.json",),
)


class Row(SourceRow):
    """One needle and one neighbour of it."""

    query: str
    gold_ast_body: str
    repo: str
    commit: str
    seed_qname: str
    gold_qname: str
    gold_kind: str
    hop_distance: int


@dataclass
class RepoQAStructural:
    """20 rows over the corpora of RepoQA."""

    name: str = "repoqa-structural"
    takes: frozenset[LoadFlag] = frozenset({"--from", "--revision", "--repo"})

    def load(self, options: LoadOptions) -> Loaded:
        """Read the rows, and RepoQA's release for their corpora (below or beside --from)."""
        found = find_originals([_FILE], options, pin=REVISION, dataset=self.name)
        rows = _read(found.paths[0])
        release = read_release(_beside(options))
        check_repos(options.repos, [row.repo for row in rows])
        info = DatasetInfo(
            name=self.name,
            revision=f"{found.revision}, repoqa {release.revision}",
            loader_version="1",
            source="https://github.com/msobroza/pydocs-mcp (structural_recall.json)",
            licence="MIT; descriptions from RepoQA, Apache-2.0",
            citation="pydocs-mcp, structural recall fixture; Liu et al., RepoQA (2024)",
            primary_level="symbol",
            primary_metric="recall@10",
            default_split="dev",
            caveats=(
                "Twenty tasks: differences between systems are rarely more than noise.",
                "One neighbour of the needle is gold; it may have others, which are not judged.",
            ),
            strata_label="relation to the needle",
            sha256=found.sha256s[0],
        )
        python = {row["repo"]: row for row in release.languages.get("python", [])}
        reader = _Reader(rows, python, options.repos)
        corpora = tuple(repo_corpus(row) for row in python.values())
        return Loaded(info, corpora, reader.tasks(), reader.drops, len(rows))


LOADER = RepoQAStructural()


def _beside(options: LoadOptions) -> LoadOptions:
    """RepoQA's release may lie in a folder next to the one named."""
    from dataclasses import replace

    folder = options.source_dir
    if folder is None or any(folder.glob("**/repoqa-*.json.gz")):
        return options
    return replace(options, source_dir=folder.resolve().parent, revision=None)


def _read(file: Path) -> list[Row]:
    try:
        data = json.loads(file.read_text("utf-8"))
        return TypeAdapter(list[Row]).validate_python(data["python"])
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise DatasetError(f"expected {{python: [row]}}: {error!r}", where=str(file)) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = f"{file}: python.{'.'.join(map(str, first['loc']))}"
        raise DatasetError(first["msg"], where=where) from error


@dataclass
class _Reader:
    rows: list[Row]
    repos: Mapping[str, Mapping[str, Any]]
    wanted: tuple[str, ...]
    drops: list[Drop] = field(default_factory=list)
    _symbols: dict[str, dict[str, Symbol]] = field(default_factory=dict)

    def tasks(self) -> Iterator[Task]:
        for number, row in enumerate(self.rows, start=1):
            source_row = f"python/{number}"
            task_id = f"{row.repo}:{row.seed_qname}->{row.gold_qname}"
            source = self.repos.get(row.repo)
            if not select_repo(row.repo, self.wanted):
                self._drop(source_row, "not_selected", task_id, row.repo)
            elif source is None or source["commit_sha"] != row.commit:
                at = f"{row.repo} at {row.commit} is not in the RepoQA release at hand"
                self._drop(source_row, "corpus_unavailable", task_id, at)
            elif (gold := self._named(source).get(row.gold_qname)) is None:
                self._drop(source_row, "gold_not_in_corpus", task_id, row.gold_qname)
            else:
                seed = self._named(source).get(row.seed_qname)
                yield _task(row, gold, seed, task_id, source_row)

    def _drop(self, source_row: str, reason: DropReason, task_id: str, evidence: str) -> None:
        self.drops.append(Drop(source_row, reason, task_id, evidence))

    def _named(self, source: Mapping[str, Any]) -> dict[str, Symbol]:
        repo = source["repo"]
        if repo not in self._symbols:
            packages = package_dirs(source["content"])
            found = [
                symbol
                for path, text in source["content"].items()
                if path.endswith(".py")
                for symbol in read_symbols(
                    path, text.encode(), module=module_name(path, packages)
                ).symbols
            ]
            self._symbols[repo] = {one.qualified_name: one for one in by_length(found)}
        return self._symbols[repo]


def _task(row: Row, gold: Symbol, seed: Symbol | None, task_id: str, source_row: str) -> Task:
    items = [_item(row, gold, "primary")]
    if seed is not None and seed.qualified_name != gold.qualified_name:
        # The needle itself is what the words describe: finding it is no error, and earns nothing.
        items.append(_item(row, seed, "admissible"))
    return Task(
        task_id=task_id,
        kind="references",
        query=row.query.strip(),
        corpus=row.repo,
        gold=tuple(items),
        repo=row.repo,
        labels={"relation": row.gold_kind, "hops": str(row.hop_distance)},
        stratum=row.gold_kind,
        source_row=source_row,
    )


def _item(row: Row, symbol: Symbol, role: GoldRole) -> GoldItem:
    # The stored body of a class is not the whole class, so a class is known by its name alone.
    stored = fingerprint_source(row.gold_ast_body) if role == "primary" else None
    qrels = [Qrel("symbol", symbol.qualified_name, symbol.path, symbol.start_line, symbol.end_line)]
    if stored is not None and stored == symbol.fingerprint:
        qrels.append(Qrel("fingerprint", key=stored))
    return GoldItem(
        gold_id=f"{symbol.path}::{symbol.symbol}",
        level="symbol",
        qrels=tuple(qrels),
        role=role,
        truth_method=f"{row.gold_kind} of the needle" if role == "primary" else "the needle",
    )
