"""SWE-QA: questions about 15 repositories, with answers that cite files. File-level gold only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evalake_ingest.citations import Citation, CitedPaths, Resolution, find_citations
from evalake_ingest.corpora.clones import Missing, Pin, open_repositories
from evalake_ingest.corpora.sources import source_paths
from evalake_ingest.imports.schema import read_lines
from evalake_ingest.loaders.swe_qa_pins import FILE_SHA256S, PINS, REVISION
from evalake_ingest.originals import Original, find_originals
from evalake_ingest.records import (
    CorpusSource,
    DatasetInfo,
    Drop,
    DropReason,
    GoldItem,
    Loaded,
    LoadOptions,
    Qrel,
    Task,
)
from evalake_warehouse.errors import UsageError

_SOURCE = "https://github.com/peng-weihan/SWE-QA-Bench"
_RAW = "https://raw.githubusercontent.com/peng-weihan/SWE-QA-Bench"


class Row(BaseModel):
    """One line of a repository's file; other columns are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    question: str
    answer: str | None


@dataclass
class SweQA:
    """720 rows, 48 per repository."""

    name: str = "swe-qa"

    def load(self, options: LoadOptions) -> Loaded:
        """Read every repository's file; corpora come from clones or --archives."""
        originals = [
            Original(
                name=f"{name}.jsonl",
                sha256=FILE_SHA256S[name],
                url=f"{_RAW}/{REVISION}/Benchmark/{name}.jsonl",
                paths=(f"data/{name}.jsonl", f"Benchmark/{name}.jsonl"),
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
        corpora = tuple(one for one in opened.values() if not isinstance(one, Missing))
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
            cited_paths = CitedPaths(source_paths(source), pin.short_name)
            for number, row in enumerate(rows, start=1):
                cited = cite_files(row.answer, cited_paths)
                task_id, source_row = _task_id(name, number), _source_row(name, number)
                self.drops += cited.drops(source_row, task_id)
                if cited.gold:
                    yield Task(
                        task_id=task_id,
                        kind="question",
                        query=row.question.strip(),
                        corpus=pin.repo,
                        gold=cited.gold,
                        repo=pin.repo,
                        qa_type=question_type(row.question),
                        stratum=pin.repo,
                        source_row=source_row,
                    )


@dataclass(frozen=True)
class CitedFiles:
    """File gold of one answer, and the citations that came to nothing."""

    gold: tuple[GoldItem, ...]
    lost: tuple[tuple[Citation, Resolution], ...]
    found: tuple[tuple[Citation, str], ...]
    is_null: bool = False

    def drops(self, source_row: str, task_id: str) -> Iterator[Drop]:
        """Ambiguous names of a kept row, one by one; of a row without gold, why it has none."""
        ambiguous = [one for one, meant in self.lost if meant.status == "ambiguous"]
        if self.gold:
            seen = dict.fromkeys(one.path for one in ambiguous)
            yield from (Drop(source_row, "ambiguous_basename", task_id, path) for path in seen)
        elif self.is_null:
            yield Drop(source_row, "null_answer", task_id)
        elif not self.lost:
            yield Drop(source_row, "no_citation", task_id)
        else:
            reason: DropReason = "ambiguous_basename" if ambiguous else "unresolved_citation"
            told = ", ".join(dict.fromkeys(one.path for one, _ in self.lost))
            yield Drop(source_row, reason, task_id, told)


def cite_files(answer: str | None, paths: CitedPaths) -> CitedFiles:
    """File-level gold from the files that an answer cites."""
    if answer is None or not answer.strip():
        return CitedFiles((), (), (), is_null=True)
    resolved = [(one, paths.resolve(one.path)) for one in find_citations(answer)]
    found = [(one, meant.path) for one, meant in resolved if meant.path is not None]
    first: dict[str, Citation] = {}
    for one, path in found:
        first.setdefault(path, one)
    gold = tuple(
        GoldItem(
            gold_id=path,
            level="file",
            qrels=(Qrel("file", path=path),),
            truth_method="cited in the answer",
            evidence=one.written,
        )
        for path, one in sorted(first.items())
    )
    # A bare name that the same answer also gives in full is no loss.
    known = {path.rpartition("/")[2] for path in first}
    lost = tuple(
        (one, meant)
        for one, meant in resolved
        if meant.path is None and one.path.rpartition("/")[2] not in known
    )
    return CitedFiles(gold, lost, tuple(found))


def question_type(text: str) -> str | None:
    """what, where, how or why: by the first word."""
    first = text.split(maxsplit=1)[0].strip("\"'*`:,").lower() if text.strip() else ""
    return first if first in {"what", "where", "how", "why"} else None


def select_repo(repo: str, wanted: Sequence[str]) -> bool:
    """Whether --repo, if given, names a repository by its short or full name."""
    return not wanted or repo in wanted or repo.rpartition("/")[2] in wanted


def check_repos(wanted: Sequence[str], repos: Sequence[str]) -> None:
    """Refuse --repo values that no repository of the dataset has.

    Raises:
        UsageError: with the names that there are.
    """
    unknown = [name for name in wanted if not any(select_repo(repo, [name]) for repo in repos)]
    if unknown:
        there = ", ".join(sorted({repo.rpartition("/")[2] for repo in repos}))
        raise UsageError(f"no repository {', '.join(unknown)}; there are: {there}", where="--repo")


def _task_id(name: str, number: int) -> str:
    return f"{name}-{number:03d}"


def _source_row(name: str, number: int) -> str:
    return f"{Path(name).name}.jsonl:{number}"
