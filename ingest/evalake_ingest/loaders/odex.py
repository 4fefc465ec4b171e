"""ODEX with the gold documentation of CodeRAG-Bench, over the documentation datastore."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from evalake_ingest.loaders import library_docs
from evalake_ingest.loaders.ds1000 import LIBRARY_FLAGS, REVISION, Doc
from evalake_ingest.originals.line_schema import read_lines
from evalake_ingest.originals.original_files import Original, find_originals
from evalake_ingest.originals.selection import unknown_names
from evalake_ingest.originals.source_rows import SourceRow
from evalake_ingest.records import (
    DatasetInfo,
    Drop,
    GoldItem,
    Loaded,
    LoadFlag,
    LoadOptions,
    Qrel,
    Task,
)

_FILE = Original(
    name="odex.json",
    sha256="38d671e66fdf70e82f5ffa9238e53e32c68945940609b23347e1f7d9a8d1b525",
    url="https://raw.githubusercontent.com/code-rag-bench/code-rag-bench/"
    f"{REVISION}/retrieval/datasets/canonical/odex_docs.json",
    paths=("odex/odex.json",),
)


class Row(SourceRow):
    """One problem."""

    task_id: int
    intent: str
    library: list[str]
    docs: list[Doc]


@dataclass
class Odex:
    """439 rows, 201 with gold. A `task_id` comes up to several times: its row makes it unique."""

    name: str = "odex"
    takes: frozenset[LoadFlag] = LIBRARY_FLAGS

    def load(self, options: LoadOptions) -> Loaded:
        """Read the problems; --library keeps those that use one, and may narrow the corpus."""
        found = find_originals([_FILE], options, pin=REVISION, dataset=self.name)
        rows = [row for _, row in read_lines(found.paths[0], Row)]
        known = {library for row in rows for library in row.library or ["python"]}
        if unknown := [name for name in options.libraries if name not in known]:
            raise unknown_names("--library", unknown, known)
        datastore = library_docs.open_datastore(options, self.name)
        narrowed = options.libraries if options.narrow_corpus else ()
        info = DatasetInfo(
            name=self.name,
            revision=found.revision,
            loader_version="1",
            source="https://github.com/code-rag-bench/code-rag-bench (odex_docs.json)",
            licence="CC-BY-SA-4.0",
            citation="Wang et al., Execution-Based Evaluation for Open-Domain Code Generation "
            "(2022), arXiv:2212.10481; Wang et al., CodeRAG-Bench (2024), arXiv:2406.14497",
            primary_level="doc",
            primary_metric="ndcg@10",
            default_split="dev",
            caveats=(
                "Gold is the documentation of functions in the reference solution; other ways to "
                "solve a task exist and are not judged.",
                "CodeRAG-Bench searches CoNaLa's own documentation; here it is the larger "
                "datastore, which holds all gold ids.",
                *datastore.caveats,
            ),
            strata_label="library",
            sha256=found.sha256s[0],
        )
        reader = _Reader(rows, options.libraries)
        corpora = (datastore.corpus(narrowed),)
        return Loaded(info, corpora, reader.tasks(), reader.drops, len(rows))


LOADER = Odex()


@dataclass
class _Reader:
    rows: list[Row]
    wanted: tuple[str, ...]
    drops: list[Drop] = field(default_factory=list)

    def tasks(self) -> Iterator[Task]:
        for index, row in enumerate(self.rows):
            source_row = f"odex.json:{index + 1}"
            task_id = f"{index}_{row.task_id}"  # as CodeRAG-Bench names its queries
            libraries = row.library or ["python"]
            if self.wanted and not set(libraries).intersection(self.wanted):
                self.drops.append(Drop(source_row, "not_selected", task_id, ", ".join(libraries)))
            elif not row.docs:
                self.drops.append(Drop(source_row, "no_gold", task_id))
            else:
                titles = dict.fromkeys(doc.title for doc in row.docs)
                yield Task(
                    task_id=task_id,
                    kind="code",
                    query=row.intent.strip(),
                    corpus=library_docs.NAME,
                    gold=tuple(doc_gold(title) for title in titles),
                    library=libraries[0] if len(libraries) == 1 else None,
                    labels={"libraries": ", ".join(libraries)},
                    stratum="python" if libraries == ["python"] else "other libraries",
                    source_row=source_row,
                )


def doc_gold(doc_id: str) -> GoldItem:
    """Gold that is one row of the datastore."""
    return GoldItem(
        gold_id=doc_id,
        level="doc",
        qrels=(Qrel("doc_id", key=doc_id),),
        truth_method="documentation of the reference solution",
    )
