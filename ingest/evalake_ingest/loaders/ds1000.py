"""DS-1000 with the gold documentation of CodeRAG-Bench, over two corpora.

`ds1000` searches the documentation datastore, and gold is matched by doc id. `ds1000-packages`
searches the libraries' own sources, and gold is matched by content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from evalake_ingest.corpora.packages import Files, PackagesSource, read_packages, read_pins
from evalake_ingest.loaders import library_docs
from evalake_ingest.originals.line_schema import read_lines
from evalake_ingest.originals.original_files import Original, find_originals
from evalake_ingest.originals.selection import unknown_names
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
    SkippedDocument,
    Task,
)

REVISION = "f9e100ca9ed94b8f1983b356ae81966e30210cf4"  # of code-rag-bench/code-rag-bench
LIBRARY_FLAGS: frozenset[LoadFlag] = frozenset(
    {"--from", "--revision", "--library", "--narrow-corpus"}
)
_FILE = Original(
    name="ds1000.json",
    sha256="cab42ba5034ddecf1ed762eb4f1a5f19299635a0bd6a28bb339a1c8c2a91079f",
    url="https://raw.githubusercontent.com/code-rag-bench/code-rag-bench/"
    f"{REVISION}/retrieval/datasets/canonical/ds1000_docs.json",
    paths=("ds1000/ds1000.json",),
)
LIBRARIES = ("matplotlib", "numpy", "pandas", "scipy", "sklearn", "tensorflow", "torch")
_SPELLINGS = {"pytorch": "torch", "scikit-learn": "sklearn"}
_PACKAGES = ("matplotlib", "numpy", "pandas", "scipy", "sklearn")
_PACKAGES_CORPUS = "reference project"

_CAVEATS = (
    "DS-1000 perturbs the solution, not only the wording: the same gold over perturbations is no "
    "proof of robustness.",
    "Gold is the documentation of functions in the reference solution; other ways to solve a task "
    "exist and are not judged.",
)
_TEXT_CAVEAT = (
    "Gold is matched by content: a chunk of source counts where it holds the documentation's text "
    "nearly word for word, so sources that spell it differently cannot score."
)

# The answer's scaffold: what follows "A:" at a line start, or the marker of a completion task.
_SCAFFOLD = re.compile(r"^\s*A:\s*$.*|^\s*A:\s*\n\s*<code>.*", re.MULTILINE | re.DOTALL)
_MARKER = re.compile(r"^# SOLUTION START.*", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"^\s*#+ ?(.*\S)\s*$", re.MULTILINE)


class Doc(SourceRow):
    """One gold document."""

    title: str
    text: str
    function: str | None = None


class Metadata(SourceRow):
    """Which problem a row is, and what it is a variant of."""

    problem_id: int
    library: str
    perturbation_type: str
    perturbation_origin_id: int


class Row(SourceRow):
    """One problem."""

    prompt: str
    metadata: Metadata
    docs: list[Doc]


@dataclass(frozen=True)
class DS1000:
    """1,000 rows; 513 have gold."""

    name: str
    by_content: bool
    takes: frozenset[LoadFlag] = LIBRARY_FLAGS

    def load(self, options: LoadOptions) -> Loaded:
        """Read the problems; --library keeps some, --narrow-corpus narrows the corpus with them."""
        found = find_originals([_FILE], options, pin=REVISION, dataset=self.name)
        rows = [row for _, row in read_lines(found.paths[0], Row)]
        wanted = library_names(options.libraries)
        narrowed = wanted if options.narrow_corpus else ()
        corpus: CorpusSource
        if self.by_content:
            corpus = _packages(options, narrowed)
            caveats: tuple[str, ...] = (_TEXT_CAVEAT,)
        else:
            datastore = library_docs.open_datastore(options, self.name)
            corpus, caveats = datastore.corpus(narrowed), datastore.caveats
        info = DatasetInfo(
            name=self.name,
            revision=found.revision,
            loader_version="1",
            source="https://github.com/code-rag-bench/code-rag-bench (ds1000_docs.json)",
            licence="CC-BY-SA-4.0",
            citation="Lai et al., DS-1000 (2022), arXiv:2211.11501; Wang et al., CodeRAG-Bench "
            "(2024), arXiv:2406.14497",
            primary_level="doc",
            primary_metric="ndcg@10",
            default_split="dev",
            caveats=(*_CAVEATS, *caveats),
            strata_label="library",
            sha256=found.sha256s[0],
        )
        reader = _Reader(rows, corpus.name, wanted, self.by_content)
        return Loaded(info, (corpus,), reader.tasks(), reader.drops, len(rows))


LOADER = DS1000("ds1000", by_content=False)
PACKAGES_LOADER = DS1000("ds1000-packages", by_content=True)


def stripped(prompt: str) -> str:
    """The question in words: without the answer's scaffold, and of a completion its comments."""
    if _MARKER.search(prompt):
        comments = _COMMENT.findall(_MARKER.sub("", prompt))
        return "\n".join(comments) or _MARKER.sub("", prompt).strip()
    text = prompt.strip().removeprefix("Problem:")
    return _SCAFFOLD.sub("", text).strip() or prompt.strip()


def library_names(wanted: Sequence[str]) -> tuple[str, ...]:
    """Libraries as doc ids begin with them.

    Raises:
        UsageError: one is not of DS-1000.
    """
    named = [_SPELLINGS.get(name.lower(), name.lower()) for name in wanted]
    if unknown := [name for name in named if name not in LIBRARIES]:
        raise unknown_names("--library", unknown, LIBRARIES)
    return tuple(named)


def _packages(options: LoadOptions, only: Sequence[str]) -> CorpusSource:
    """A project that pins DS-1000's environment, with its packages unpacked beside it."""
    file = Path(str(resources.files("evalake_ingest.loaders"))) / "ds1000_pins.json"
    pins = [
        pin for pin in read_pins(file) if not only or _SPELLINGS.get(pin.name, pin.name) in only
    ]
    wheels = options.source_dir / "wheels" if options.source_dir else None
    wheels = wheels if wheels is not None and wheels.is_dir() else None
    left_out: list[SkippedDocument] = []
    whole = read_packages(
        pins, cache=options.cache, wheels_dir=wheels, dataset="ds1000-packages", left_out=left_out
    )
    tests = [path for files in whole for path in files if "/tests/" in path]
    left_out += [SkippedDocument(path, "skipped_excluded", "the package's tests") for path in tests]
    packages: list[Files] = [
        {path: content for path, content in files.items() if "/tests/" not in path}
        for files in whole
    ]
    pinned = [f"{pin.name}=={pin.version}" for pin in pins]
    lines = "".join(f'    "{requirement}",\n' for requirement in pinned)
    project = f'[project]\nname = "reference"\nversion = "1"\ndependencies = [\n{lines}]\n'
    return PackagesSource(
        name=_PACKAGES_CORPUS,
        origin=f"wheels without their tests: {', '.join(pinned)}",
        packages=[{"pyproject.toml": project.encode()}, *packages],
        left_out=left_out,
    )


@dataclass
class _Reader:
    rows: list[Row]
    corpus: str
    wanted: tuple[str, ...]
    by_content: bool
    drops: list[Drop] = field(default_factory=list)

    def tasks(self) -> Iterator[Task]:
        for number, row in enumerate(self.rows, start=1):
            source_row = f"ds1000.json:{number}"
            (library,) = library_names([row.metadata.library])
            task_id = f"ds1000-{row.metadata.problem_id}"
            if self.wanted and library not in self.wanted:
                self.drops.append(Drop(source_row, "not_selected", task_id, library))
            elif not row.docs:
                self.drops.append(Drop(source_row, "no_gold", task_id, library))
            elif self.by_content and library not in _PACKAGES:
                self.drops.append(Drop(source_row, "corpus_unavailable", task_id, library))
            else:
                yield self._task(row, task_id, source_row, library)

    def _task(self, row: Row, task_id: str, source_row: str, library: str) -> Task:
        question = stripped(row.prompt)
        return Task(
            task_id=task_id,
            kind="code",
            query=question,
            corpus=self.corpus,
            gold=tuple(self._gold(doc) for doc in row.docs),
            query_variants={"stripped": question, "full_prompt": row.prompt},
            library=library,
            labels={
                "perturbation": row.metadata.perturbation_type,
                "perturbation_origin": str(row.metadata.perturbation_origin_id),
            },
            stratum=library,
            source_row=source_row,
        )

    def _gold(self, doc: Doc) -> GoldItem:
        qrel = Qrel("text", key=doc.text) if self.by_content else Qrel("doc_id", key=doc.title)
        return GoldItem(
            gold_id=doc.title,
            level="doc",
            qrels=(qrel,),
            truth_method="documentation of the reference solution",
            evidence=doc.function,
        )
