"""SWE-QA: questions about 15 repositories, with answers that cite files. File-level gold only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from evalake_ingest.corpora.clones import Missing, Pin, open_repositories, sources_of
from evalake_ingest.corpora.sources import source_paths
from evalake_ingest.loaders.swe_qa_pins import FILE_SHA256S, PINS, REVISION
from evalake_ingest.originals.citations import CitedPaths
from evalake_ingest.originals.cited_gold import cite_files, question_type
from evalake_ingest.originals.line_schema import read_lines
from evalake_ingest.originals.original_files import Original, find_originals
from evalake_ingest.originals.selection import REPOSITORY_FLAGS, check_repos, select_repo
from evalake_ingest.originals.source_rows import SourceRow
from evalake_ingest.records import (
    CorpusSource,
    DatasetInfo,
    Drop,
    DropReason,
    Loaded,
    LoadFlag,
    LoadOptions,
    Task,
)

_SOURCE = "https://github.com/peng-weihan/SWE-QA-Bench"
_RAW = "https://raw.githubusercontent.com/peng-weihan/SWE-QA-Bench"


class Row(SourceRow):
    """One line of a repository's file; other columns are ignored."""

    question: str
    answer: str | None


@dataclass
class SweQA:
    """720 rows, 48 per repository."""

    name: str = "swe-qa"
    takes: frozenset[LoadFlag] = REPOSITORY_FLAGS | {"--revision"}

    def load(self, options: LoadOptions) -> Loaded:
        """Read every repository's file; corpora come from clones or --archives."""
        originals = [
            Original(
                name=f"{name}.jsonl",
                sha256=FILE_SHA256S[name],
                url=f"{_RAW}/{REVISION}/Benchmark/{name}.jsonl",
                paths=(
                    f"data/{name}.jsonl",
                    f"Benchmark/{name}.jsonl",
                    f"swe-qa/data/{name}.jsonl",
                ),
            )
            for name in PINS
        ]
        found = find_originals(originals, options, pin=REVISION, dataset=self.name)
        rows = {
            name: [row for _, row in read_lines(path, Row)]
            for name, path in zip(PINS, found.paths, strict=True)
        }
        wanted = {name for name, pin in PINS.items() if select_repo(pin.repo, options.repos)}
        check_repos(options.repos, [pin.repo for pin in PINS.values()])
        opened = open_repositories([PINS[name] for name in sorted(wanted)], options)
        info = DatasetInfo(
            name=self.name,
            revision=found.revision,
            loader_version="1",
            source=_SOURCE,
            licence="Apache-2.0",
            citation="Peng et al., SWE-QA: Can Language Models Answer Repository-level Code "
            "Questions? (2025), arXiv:2509.14635",
            primary_level="file",
            primary_metric="recall@10",
            default_split="dev",
            caveats=(
                "Gold files are those that the reference answer cites: pseudo-qrels, good for "
                "comparing systems, not as absolute scores.",
                "Answers without a resolvable citation are left out; streamlink, reflex and "
                "half of astropy cite none.",
            ),
            strata_label="repo",
        )
        reader = _Reader(rows, opened)
        corpora = sources_of(opened)
        n_rows = sum(map(len, rows.values()))
        return Loaded(info, corpora, reader.tasks(), reader.drops, n_rows)


LOADER = SweQA()


@dataclass
class _Reader:
    rows: dict[str, list[Row]]
    opened: dict[Pin, CorpusSource | Missing]
    drops: list[Drop] = field(default_factory=list)

    def tasks(self) -> Iterator[Task]:
        for name, rows in self.rows.items():
            pin = PINS[name]
            source = self.opened.get(pin)
            if source is None or isinstance(source, Missing):
                reason: DropReason = "not_selected" if source is None else "corpus_unavailable"
                detail = source.detail if source else None
                self.drops += [
                    Drop(_source_row(name, number), reason, _task_id(name, number), detail)
                    for number in range(1, len(rows) + 1)
                ]
                continue
            paths, left_out = source_paths(source)
            cited_paths = CitedPaths(paths, pin.short_name, left_out)
            for number, row in enumerate(rows, start=1):
                cited = cite_files(row.answer, cited_paths)
                task_id, source_row = _task_id(name, number), _source_row(name, number)
                self.drops += cited.drops(source_row, task_id)
                if cited.gold:
                    yield Task(
                        task_id=task_id,
                        kind="question",
                        query=row.question.strip(),
                        corpus=pin.corpus_name,
                        gold=cited.gold,
                        repo=pin.repo,
                        qa_type=question_type(row.question),
                        stratum=pin.repo,
                        source_row=source_row,
                    )


def _task_id(name: str, number: int) -> str:
    return f"{name}-{number:03d}"


def _source_row(name: str, number: int) -> str:
    return f"{name}.jsonl:{number}"
