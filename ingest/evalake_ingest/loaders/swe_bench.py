"""SWE-bench Verified as localisation: from an issue's text to the files that its fix changes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from evalake_ingest.corpora.clones import Missing, Pin, open_repositories, sources_of
from evalake_ingest.originals.original_files import Original, find_originals
from evalake_ingest.originals.patches import added_files, changed_files
from evalake_ingest.originals.selection import REPOSITORY_FLAGS, check_repos, select_repo
from evalake_ingest.records import (
    CorpusSource,
    DatasetInfo,
    Drop,
    GoldItem,
    Loaded,
    LoadFlag,
    LoadOptions,
    Qrel,
    Task,
)
from evalake_warehouse.errors import DatasetError
from evalake_warehouse.vocabulary import GoldRole

REVISION = "6ddacb0ec2ba00b72a72e3126245016082db6da2"  # of SWE-bench/SWE-bench
_PATH = "data/SWE-bench_Verified/test.parquet"
_FILE = Original(
    name="test.parquet",
    sha256="09a9aba9156398777c6960e79186499bfefa15aa7275e110eea3a5dc8400c475",
    url=f"https://raw.githubusercontent.com/SWE-bench/SWE-bench/{REVISION}/{_PATH}",
    paths=(_PATH, f"swe-bench/{_PATH}"),
)
_COLUMNS = ("repo", "instance_id", "base_commit", "patch", "test_patch", "problem_statement")
_WORD = re.compile(r"[\w./-]+")


@dataclass
class SweBenchVerified:
    """500 rows over 12 repositories, each at a commit of its own."""

    name: str = "swe-bench-verified"
    takes: frozenset[LoadFlag] = REPOSITORY_FLAGS | {"--revision"}

    def load(self, options: LoadOptions) -> Loaded:
        """Read the rows; corpora come from clones (one per row) or --archives."""
        found = find_originals([_FILE], options, pin=REVISION, dataset=self.name)
        rows = _read(found.paths[0])
        check_repos(options.repos, [row["repo"] for row in rows])
        pins = {
            row["instance_id"]: Pin(
                row["repo"], row["base_commit"], f"https://github.com/{row['repo']}"
            )
            for row in rows
            if select_repo(row["repo"], options.repos)
        }
        distinct = list(dict.fromkeys(pins.values()))
        opened = open_repositories(distinct, options)
        sources = {pin: opened[pin] for pin in distinct}
        info = DatasetInfo(
            name=self.name,
            revision=found.revision,
            loader_version="1",
            source="https://github.com/SWE-bench/SWE-bench",
            licence="MIT; issue texts from their projects",
            citation="Jimenez et al., SWE-bench (2023), arXiv:2310.06770; Chowdhury et al., "
            "Introducing SWE-bench Verified (2024)",
            primary_level="file",
            primary_metric="recall@10",
            default_split="dev",
            caveats=(
                "Gold is what one merged fix changed. Files that had to be read, or that another "
                "fix would change, are not judged: scores are a lower bound.",
                "Some statements name a gold file: see the label statement_names_gold, and the "
                "slice without them.",
            ),
            strata_label="repo",
            sha256=found.sha256s[0],
        )
        reader = _Reader(rows, pins, sources)
        corpora = sources_of(sources)
        return Loaded(info, corpora, reader.tasks(), reader.drops, len(rows))


LOADER = SweBenchVerified()


def _read(file: Path) -> list[dict[str, Any]]:
    try:
        opened = pq.ParquetFile(file)
        missing = [name for name in _COLUMNS if name not in opened.schema_arrow.names]
        if missing:
            raise DatasetError(f"lacks columns {', '.join(missing)}", where=str(file))
        rows: list[dict[str, Any]] = opened.read(columns=list(_COLUMNS)).to_pylist()
    except (pa.ArrowInvalid, OSError) as error:
        raise DatasetError(f"truncated or not Parquet: {error}", where=str(file)) from error
    return rows


@dataclass
class _Reader:
    rows: list[dict[str, Any]]
    pins: Mapping[str, Pin]
    sources: Mapping[Pin, CorpusSource | Missing]
    drops: list[Drop] = field(default_factory=list)

    def tasks(self) -> Iterator[Task]:
        for number, row in enumerate(self.rows, start=1):
            source_row, task_id = f"test.parquet:{number}", row["instance_id"]
            pin = self.pins.get(task_id)
            if pin is None:
                self.drops.append(Drop(source_row, "not_selected", task_id, row["repo"]))
                continue
            source = self.sources[pin]
            gold = file_gold(row["patch"], row["test_patch"])
            if isinstance(source, Missing):
                drop = Drop(source_row, "corpus_unavailable", task_id, source.detail)
                self.drops.append(drop)
            elif not any(item.role == "primary" for item in gold):
                added = ", ".join(added_files(row["patch"]))
                self.drops.append(Drop(source_row, "no_gold", task_id, f"adds only {added}"))
            elif not row["problem_statement"]:
                self.drops.append(Drop(source_row, "missing_field", task_id, "problem_statement"))
            else:
                paths = [item.gold_id for item in gold if item.role == "primary"]
                named = names_a_file(row["problem_statement"], paths)
                yield Task(
                    task_id=task_id,
                    kind="locate",
                    query=row["problem_statement"],
                    corpus=pin.corpus_name,
                    gold=tuple(gold),
                    repo=row["repo"],
                    labels={"statement_names_gold": "yes" if named else "no"},
                    stratum=row["repo"],
                    source_row=source_row,
                )


def file_gold(patch: str, test_patch: str) -> list[GoldItem]:
    """Files that the fix changes, and the test files beside it as admissible."""
    primary = changed_files(patch)
    tests = [path for path in changed_files(test_patch) if path not in primary]
    return [
        *(_item(path, "primary", "merged fix") for path in primary),
        *(_item(path, "admissible", "test of the merged fix") for path in tests),
    ]


def names_a_file(text: str, paths: list[str]) -> bool:
    """Whether a text has the path of a file, or its base name, as a word of its own."""
    words = {word.strip("./-") for word in _WORD.findall(text)}
    endings = {word.rpartition("/")[2] for word in words}
    return any(path in words or posixpath.basename(path) in endings for path in paths)


def _item(path: str, role: GoldRole, method: str) -> GoldItem:
    return GoldItem(
        gold_id=path, level="file", qrels=(Qrel("file", path=path),), role=role, truth_method=method
    )
