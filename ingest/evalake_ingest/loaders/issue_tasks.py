"""issue-tasks: locate, impact and references questions from issues of flask and requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import Field

from evalake_ingest.corpora.clones import Missing, Pin, open_repositories, sources_of
from evalake_ingest.originals.line_schema import read_lines
from evalake_ingest.originals.original_files import Original, find_originals
from evalake_ingest.originals.selection import REPOSITORY_FLAGS, check_repos, select_repo
from evalake_ingest.originals.source_rows import SourceRow
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
from evalake_warehouse.vocabulary import GoldRole

_FILE = Original(name="tasks.jsonl", sha256=None, paths=("issue-tasks/tasks.jsonl",))


class Row(SourceRow):
    """One task."""

    task_id: str
    kind: str
    repo: str
    repo_url: str
    query: str
    corpus_commit: str
    truth_method: str
    gold_files: list[str]
    touched_files: list[str] = Field(default_factory=list)
    core_files: list[str] = Field(default_factory=list)
    admissible_files: list[str] = Field(default_factory=list)
    primary_file: str | None = None
    seed_file: str | None = None
    symbol: str | None = None


@dataclass
class IssueTasks:
    """Fourteen tasks."""

    name: str = "issue-tasks"
    takes: frozenset[LoadFlag] = REPOSITORY_FLAGS

    def load(self, options: LoadOptions) -> Loaded:
        """Read the tasks; corpora come from clones or --archives."""
        found = find_originals([_FILE], options, pin="own", dataset=self.name)
        rows = [row for _, row in read_lines(found.paths[0], Row)]
        check_repos(options.repos, [row.repo for row in rows])
        pins = {
            row.task_id: Pin(row.repo, row.corpus_commit, row.repo_url)
            for row in rows
            if select_repo(row.repo, options.repos)
        }
        opened = open_repositories(list(dict.fromkeys(pins.values())), options)
        info = DatasetInfo(
            name=self.name,
            revision=f"sha256:{found.sha256s[0][:16]}",
            loader_version="1",
            source="tasks.jsonl",
            licence="own words over public issues; repositories under their own licences",
            citation="issue-tasks",
            primary_level="file",
            primary_metric="recall@10",
            default_split="dev",
            caveats=(
                "Gold is what one merged fix changed, or what imports a symbol: other files may "
                "have to be read, so scores are a lower bound.",
                "Few tasks: differences between systems are rarely more than noise.",
            ),
            strata_label="kind",
            sha256=found.sha256s[0],
        )
        corpora = sources_of(opened)
        reader = _Reader(rows, pins, opened)
        return Loaded(info, corpora, reader.tasks(), reader.drops, len(rows))


LOADER = IssueTasks()


@dataclass
class _Reader:
    rows: list[Row]
    pins: Mapping[str, Pin]
    opened: Mapping[Pin, CorpusSource | Missing]
    drops: list[Drop] = field(default_factory=list)

    def tasks(self) -> Iterator[Task]:
        for number, row in enumerate(self.rows, start=1):
            source_row = f"tasks.jsonl:{number}"
            pin = self.pins.get(row.task_id)
            source = self.opened[pin] if pin else None
            if pin is None or source is None:
                self.drops.append(Drop(source_row, "not_selected", row.task_id, row.repo))
            elif isinstance(source, Missing):
                drop = Drop(source_row, "corpus_unavailable", row.task_id, source.detail)
                self.drops.append(drop)
            else:
                labels = {"seed_file": row.seed_file, "symbol": row.symbol}
                yield Task(
                    task_id=row.task_id,
                    kind=row.kind,
                    query=row.query.strip(),
                    corpus=pin.corpus_name,
                    gold=tuple(_gold(row)),
                    repo=row.repo,
                    labels={name: value for name, value in labels.items() if value},
                    stratum=row.kind,
                    source_row=source_row,
                )


def _gold(row: Row) -> Iterator[GoldItem]:
    """One item per file: in the best role that any of the row's lists gives it."""
    seed = [row.seed_file] if row.seed_file else []
    roles: list[tuple[GoldRole, list[str]]] = [
        ("primary", [row.primary_file] if row.primary_file and row.kind == "locate" else []),
        ("core", row.core_files),
        ("touched", seed),
        ("core" if row.kind == "locate" else "admissible", row.gold_files),
        ("admissible", row.admissible_files),
        ("touched", row.touched_files),
    ]
    told: set[str] = set()
    for role, paths in roles:
        for path in paths:
            if path not in told:
                told.add(path)
                yield GoldItem(
                    gold_id=path,
                    level="file",
                    qrels=(Qrel("file", path=path),),
                    role=role,
                    truth_method=row.truth_method,
                )
