"""RepoQA, searching needle functions: find the function that a description is of.

The corpus of a repository is its row's own `content`. Python only: other languages have no
syntax tree here, so their rows are dropped as `not_selected`.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalake_ingest.corpora.sources import MemorySource
from evalake_ingest.corpora.symbols import Symbol, module_name, package_dirs, read_symbols
from evalake_ingest.originals.download import find_local
from evalake_ingest.originals.original_files import Original, find_originals
from evalake_ingest.originals.selection import check_repos, select_repo
from evalake_ingest.records import (
    CorpusSource,
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
from evalake_warehouse.relevance.fingerprint import fingerprint_text

REVISION = "2024-06-23"
RELEASE = Original(
    name=f"repoqa-{REVISION}.json.gz",
    sha256="c050a2ad90a7df89d9dc1f1c3b3b20683edd20a56293b35fcaae43dec115d681",
    url="https://github.com/evalplus/repoqa_release/releases/download/"
    f"{REVISION}/repoqa-{REVISION}.json.gz",
    paths=(f"repoqa/repoqa-{REVISION}.json.gz",),
)
_PART = Original(
    name=f"repoqa-{REVISION}.partial-python.json.gz",
    sha256=None,
    paths=(f"repoqa/repoqa-{REVISION}.partial-python.json.gz",),
)

_CAVEATS = (
    "Descriptions were written by a language model from the function: their words are closer to "
    "the code than a user's would be.",
    "One function per task counts; near-duplicates elsewhere do not, unless their code is equal.",
)
_PARTIAL = "A partial copy of the release: not comparable with results on all of it."


@dataclass
class RepoQA:
    """Release of SNF needles, Python part."""

    name: str = "repoqa"
    takes: frozenset[LoadFlag] = frozenset({"--from", "--revision", "--repo"})

    def load(self, options: LoadOptions) -> Loaded:
        """Read the release, or a partial copy of it named `*.partial-python.json.gz`."""
        release = read_release(options)
        check_repos(options.repos, [row["repo"] for row in release.languages.get("python", [])])
        reader = _Reader(release.languages, options.repos)
        caveats = (*_CAVEATS, _PARTIAL) if release.is_partial else _CAVEATS
        info = DatasetInfo(
            name=self.name,
            revision=release.revision,
            loader_version="1",
            source=RELEASE.url or RELEASE.name,
            licence="Apache-2.0",
            citation="Liu et al., RepoQA: Evaluating Long Context Code Understanding (2024), "
            "arXiv:2406.06025",
            primary_level="symbol",
            primary_metric="recall@10",
            default_split="dev",
            caveats=caveats,
            strata_label="repo",
            sha256=release.sha256,
        )
        corpora = tuple(repo_corpus(row) for row in release.languages.get("python", []))
        return Loaded(info, corpora, reader.tasks(), reader.drops, reader.rows_read)


LOADER = RepoQA()


@dataclass(frozen=True)
class Release:
    """The parsed release file."""

    languages: Mapping[str, list[dict[str, Any]]]
    revision: str
    sha256: str
    is_partial: bool


def read_release(options: LoadOptions) -> Release:
    """Parse the release file.

    Raises:
        DatasetError: missing, of another hash, truncated, or of another schema.
    """
    original, pin = RELEASE, REVISION
    folder = options.source_dir
    is_partial = folder is not None and find_local(folder, _PART.places) is not None
    if is_partial:
        original, pin = _PART, f"{REVISION}-partial"
    found = find_originals([original], options, pin=pin, dataset="repoqa")
    revision = f"{found.revision}+sha256:{found.sha256s[0][:16]}" if is_partial else found.revision
    return Release(_parse(found.paths[0]), revision, found.sha256s[0], is_partial)


def repo_corpus(row: Mapping[str, Any]) -> CorpusSource:
    """The corpus of one repository row."""
    return MemorySource(
        name=row["repo"],
        origin=f"content of the row, {row['repo']} at {row['commit_sha']}",
        contents=row["content"],
        repo=row["repo"],
        commit=row["commit_sha"],
    )


def _parse(file: Path) -> Mapping[str, list[dict[str, Any]]]:
    try:
        with gzip.open(file, "rt", encoding="utf-8") as opened:
            data = json.load(opened)
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as error:
        raise DatasetError(f"truncated or not gzip: {error}", where=str(file)) from error
    except json.JSONDecodeError as error:
        raise DatasetError(f"not JSON: {error.msg}", where=f"{file}:{error.lineno}") from error
    wanted = {"repo": str, "commit_sha": str, "content": dict, "needles": list}
    if not isinstance(data, dict) or not all(isinstance(rows, list) for rows in data.values()):
        raise DatasetError("another schema; expected {language: [repository]}", where=str(file))
    for language, rows in data.items():
        for number, row in enumerate(rows):
            wrong = [name for name, kind in wanted.items() if not isinstance(row.get(name), kind)]
            if wrong:
                what = f"repository {number} lacks {', '.join(wrong)}"
                raise DatasetError(what, where=f"{file}: {language}")
    return data


@dataclass
class _Reader:
    """Reads needles, and notes which it leaves out."""

    languages: Mapping[str, list[dict[str, Any]]]
    repos: tuple[str, ...]
    drops: list[Drop] = field(default_factory=list)

    @property
    def rows_read(self) -> int:
        return sum(len(row["needles"]) for rows in self.languages.values() for row in rows)

    def tasks(self) -> Iterator[Task]:
        for language, rows in self.languages.items():
            for row in rows:
                for number, needle in enumerate(row["needles"]):
                    source_row = f"{language}/{row['repo']}/needles/{number}"
                    if language != "python" or not select_repo(row["repo"], self.repos):
                        self.drops.append(Drop(source_row, "not_selected", evidence=language))
                    elif task := self._task(row, needle, source_row):
                        yield task

    def _task(
        self, row: Mapping[str, Any], needle: Mapping[str, Any], source_row: str
    ) -> Task | None:
        wanted = ("name", "path", "start_line", "end_line", "description")
        missing = [name for name in wanted if needle.get(name) in {None, ""}]
        if missing:
            return self._leave_out(source_row, "missing_field", ", ".join(missing))
        path = needle["path"]
        if path not in row["content"]:
            return self._leave_out(source_row, "gold_not_in_corpus", path)
        # In the source lines count from 0 and the end is exclusive.
        start, end = needle["start_line"] + 1, needle["end_line"]
        body = "\n".join(row["content"][path].splitlines()[start - 1 : end])
        fingerprint = fingerprint_text(body)
        if fingerprint.fingerprint is None:
            what = f"{needle['name']}: {fingerprint.status}"
            return self._leave_out(source_row, "fingerprint_not_in_corpus", what)
        symbol = locate(row, path, needle["name"], end)
        qrels = [Qrel("fingerprint", key=fingerprint.fingerprint)]
        if symbol is not None:
            name = symbol.qualified_name
            qrels.append(Qrel("symbol", name, path, symbol.start_line, symbol.end_line))
        else:
            qrels.append(Qrel("lines", None, path, start, end))
        told = symbol.symbol if symbol else f"{needle['name']}@{start}"
        item = GoldItem(
            gold_id=f"{path}::{told}",
            level="symbol",
            qrels=tuple(qrels),
            evidence=f"{path} lines {start}-{end}",
        )
        return Task(
            task_id=f"{row['repo']}:{path}::{told}",
            kind="describe",
            query=needle["description"].strip(),
            corpus=row["repo"],
            gold=(item,),
            repo=row["repo"],
            stratum=row["repo"],
            source_row=source_row,
        )

    def _leave_out(self, source_row: str, reason: DropReason, evidence: str) -> Task | None:
        self.drops.append(Drop(source_row, reason, evidence=evidence))
        return None


def locate(row: Mapping[str, Any], path: str, name: str, end_line: int) -> Symbol | None:
    """The definition of that name that ends in that line."""
    for symbol in file_symbols(row, path):
        if symbol.end_line == end_line and symbol.symbol.rpartition(".")[2] == name:
            return symbol
    return None


def file_symbols(row: Mapping[str, Any], path: str) -> tuple[Symbol, ...]:
    """Definitions of one file of a repository row."""
    module = module_name(path, package_dirs(row["content"]))
    return read_symbols(path, row["content"][path].encode(), module=module).symbols
