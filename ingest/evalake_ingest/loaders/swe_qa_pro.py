"""SWE-QA-Pro: harder repository questions, by kind of question and by cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from evalake_ingest.corpora.clones import Missing, Pin, open_repositories, sources_of
from evalake_ingest.corpora.symbols import Symbol, module_name, package_dirs, read_symbols
from evalake_ingest.originals.citations import Citation, CitedPaths
from evalake_ingest.originals.cited_gold import cite_files, question_type
from evalake_ingest.originals.line_schema import read_lines
from evalake_ingest.originals.original_files import Original, find_originals
from evalake_ingest.originals.selection import REPOSITORY_FLAGS, check_repos, select_repo
from evalake_ingest.originals.source_rows import SourceRow
from evalake_ingest.records import (
    CorpusDocument,
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

_HUB_ROWS = 260
_FILE = Original(
    name="test.jsonl",
    sha256=None,  # the hub's file has no pin of ours; the hash of what was read is recorded
    paths=("data/test.jsonl", "swe-qa-pro/data/test.jsonl"),
)


class Cluster(SourceRow):
    """A topic."""

    id: str
    name: str


class QaType(SourceRow):
    """A kind of question; "Where (Localization Queries)" in some rows, "Where" in others."""

    class_name: str
    sub_class_name: str


class Row(SourceRow):
    """One question."""

    repo: str
    commit_id: str
    cluster: Cluster
    qa_type: QaType
    question: str
    answer: str | None


@dataclass
class SweQAPro:
    """260 rows over 26 repositories."""

    name: str = "swe-qa-pro"
    takes: frozenset[LoadFlag] = REPOSITORY_FLAGS

    def load(self, options: LoadOptions) -> Loaded:
        """Read the rows; corpora come from clones or --archives."""
        found = find_originals([_FILE], options, pin="hub", dataset=self.name)
        rows = [row for _, row in read_lines(found.paths[0], Row)]
        check_repos(options.repos, [row.repo for row in rows])
        pins = {
            row.repo: Pin(row.repo, row.commit_id, f"https://github.com/{row.repo}")
            for row in rows
            if select_repo(row.repo, options.repos)
        }
        opened = open_repositories(list(pins.values()), options)
        partial = (f"A part: {len(rows)} of {_HUB_ROWS} rows.",) if len(rows) != _HUB_ROWS else ()
        info = DatasetInfo(
            name=self.name,
            revision=f"sha256:{found.sha256s[0][:16]}",
            loader_version="1",
            source="SWE-QA-Pro, hub dataset, data/test.jsonl",
            licence="MIT",
            citation="SWE-QA-Pro (2026)",
            primary_level="file",
            primary_metric="recall@10",
            default_split="dev",
            caveats=(
                "Gold files are those that the reference answer cites: pseudo-qrels, good for "
                "comparing systems, not as absolute scores.",
                *partial,
            ),
            strata_label="cluster",
            sha256=found.sha256s[0],
        )
        reader = _Reader(rows, {repo: opened[pin] for repo, pin in pins.items()})
        corpora = sources_of(opened)
        return Loaded(info, corpora, reader.tasks(), reader.drops, len(rows))


LOADER = SweQAPro()


@dataclass
class _Reader:
    rows: list[Row]
    opened: Mapping[str, CorpusSource | Missing]
    drops: list[Drop] = field(default_factory=list)
    _read: dict[str, _Repository] = field(default_factory=dict)

    def tasks(self) -> Iterator[Task]:
        for number, row in enumerate(self.rows, start=1):
            source_row, task_id = f"test.jsonl:{number}", f"swe-qa-pro-{number:03d}"
            source = self.opened.get(row.repo)
            if source is None:
                self.drops.append(Drop(source_row, "not_selected", task_id, row.repo))
            elif isinstance(source, Missing):
                drop = Drop(source_row, "corpus_unavailable", task_id, source.detail)
                self.drops.append(drop)
            elif task := self._task(row, source, task_id, source_row):
                yield task

    def _task(self, row: Row, source: CorpusSource, task_id: str, source_row: str) -> Task | None:
        if row.repo not in self._read:
            self._read[row.repo] = _Repository.read(source)
        repository = self._read[row.repo]
        short_name = row.repo.rpartition("/")[2]
        cited = cite_files(row.answer, repository.cited_paths(short_name))
        self.drops += cited.drops(source_row, task_id)
        if not cited.gold:
            return None
        finer = {item.gold_id: item for item in repository.finer_gold(cited.found)}
        return Task(
            task_id=task_id,
            kind="question",
            query=row.question.strip(),
            corpus=source.name,
            gold=(*cited.gold, *finer.values()),
            repo=row.repo,
            qa_type=question_type(row.qa_type.class_name),
            qa_subtype=row.qa_type.sub_class_name,
            labels={"cluster": row.cluster.id, "cluster_name": row.cluster.name},
            stratum=row.cluster.id,
            source_row=source_row,
        )


@dataclass
class _Repository:
    """Files of one corpus, for lines and symbols that answers cite."""

    contents: Mapping[str, bytes]
    packages: frozenset[str]
    left_out: tuple[str, ...]
    _symbols: dict[str, tuple[Symbol, ...]] = field(default_factory=dict)

    @classmethod
    def read(cls, source: CorpusSource) -> _Repository:
        contents: dict[str, bytes] = {}
        left_out: list[str] = []
        for entry in source.documents():
            if isinstance(entry, CorpusDocument):
                contents[entry.path] = entry.content
            else:
                left_out.append(entry.path)
        return cls(contents, package_dirs(contents), tuple(left_out))

    def cited_paths(self, short_name: str) -> CitedPaths:
        """Its files, for citations."""
        return CitedPaths(self.contents, short_name, self.left_out)

    def finer_gold(self, found: tuple[tuple[Citation, str], ...]) -> Iterator[GoldItem]:
        """A lines item for each cited range, and the innermost definition that it lies in.

        A single line is a place in a definition, not a passage, so it makes a symbol only.
        """
        for cited, path in found:
            start, end = cited.start_line, cited.end_line
            if start is None or end is None or end > self.contents[path].count(b"\n") + 1:
                continue
            if end > start:
                yield GoldItem(
                    gold_id=f"{path}#L{start}-L{end}",
                    level="lines",
                    qrels=(Qrel("lines", None, path, start, end),),
                    truth_method="cited in the answer",
                    evidence=cited.written,
                )
            if symbol := self._innermost(path, start, end):
                name = symbol.qualified_name
                yield GoldItem(
                    gold_id=f"{path}::{symbol.symbol}",
                    level="symbol",
                    qrels=(
                        Qrel("symbol", name, path, symbol.start_line, symbol.end_line),
                        Qrel("fingerprint", key=symbol.fingerprint),
                    ),
                    truth_method="holds the lines cited in the answer",
                    evidence=f"{cited.written} lines {start}-{end}",
                )

    def _innermost(self, path: str, start: int, end: int) -> Symbol | None:
        if path not in self._symbols:
            module = module_name(path, self.packages)
            read = read_symbols(path, self.contents[path], module=module)
            self._symbols[path] = read.symbols if path.endswith(".py") else ()
        around = [
            one for one in self._symbols[path] if one.start_line <= start and end <= one.end_line
        ]
        return min(around, key=lambda one: one.n_lines, default=None)
