"""BM25 over functions, classes and line windows. Scoring, index and vocabulary are bm25s'."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from pydantic import Field

from evalake_runners.adapters.chunking import chunk_corpus
from evalake_runners.adapters.files import package_version
from evalake_runners.adapters.local import LocalSystem
from evalake_runners.adapters.protocol import Answer, CorpusView, IndexReport, Query, RawHit
from evalake_runners.adapters.setup import Setup, Strict
from evalake_runners.adapters.words import code_tokens, plain_tokens
from evalake_warehouse.errors import SystemFailedError

_CHUNKS = "chunks.parquet"


class CONFIG(Strict):
    """Configuration of the `bm25` system."""

    method: Literal["lucene", "robertson", "atire"] = Field(
        default="lucene", description="Variant of BM25, as bm25s names it."
    )
    k1: float = Field(default=1.5, ge=0, description="Saturation of term frequency.")
    b: float = Field(default=0.75, ge=0, le=1, description="Share of length normalisation.")
    window_lines: int = Field(
        default=60, ge=1, description="Lines per window where a file has no definitions."
    )
    overlap_lines: int = Field(default=10, ge=0, description="Lines that two windows share.")
    split_identifiers: bool = Field(
        default=True, description="Index the parts of `snake_case` and `camelCase` names too."
    )
    stopwords: bool = Field(default=True, description="Leave out bm25s' English stop words.")
    with_path: bool = Field(
        default=True, description="Index a chunk's path and name with its text."
    )


class Bm25System(LocalSystem):
    """`System` with its index in bm25s' own format beside a table of chunks."""

    name = "bm25"
    adapter_version = "2"  # definitions of ten languages are chunks
    branches = ("bm25",)

    def __init__(self, config: CONFIG) -> None:
        super().__init__(config)
        self.version = package_version("bm25s", "bm25s")
        self._config = config

    def ingestion_config(self) -> Mapping[str, Any]:
        """Every key: bm25s computes scores when it indexes."""
        return self.public_config()

    def index(self, corpus: CorpusView, index_dir: Path) -> IndexReport:
        """Chunk, tokenise, index."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        bm25s = _import_bm25s()
        config = self._config
        overlap = min(config.overlap_lines, config.window_lines - 1)
        chunks, counts = chunk_corpus(
            corpus, window_lines=config.window_lines, overlap_lines=overlap
        )
        if not chunks:
            raise SystemFailedError("the corpus has no text to index")
        tokenizer = self._tokenizer()
        texts = [
            f"{chunk.path} {chunk.qualified_name or ''}\n{chunk.text}"
            if config.with_path
            else chunk.text
            for chunk in chunks
        ]
        tokens = tokenizer.tokenize(texts, return_as="tuple", show_progress=False)
        model = bm25s.BM25(method=config.method, k1=config.k1, b=config.b, backend="numpy")
        model.index(tokens, show_progress=False)
        model.save(index_dir, show_progress=False)
        tokenizer.save_vocab(index_dir)
        fields = ("path", "text", "start_line", "end_line", "qualified_name")
        table = pa.table(
            {field: [getattr(chunk, field) for chunk in chunks] for field in fields},
            schema=pa.schema(
                [(f, pa.int64() if f.endswith("_line") else pa.string()) for f in fields]
            ),
        )
        pq.write_table(table, index_dir / _CHUNKS, compression="zstd")
        vocabulary = len(tokenizer.word_to_id)
        return IndexReport(
            n_chunks=len(chunks), counts={**counts, "vocabulary": vocabulary}, device="cpu"
        )

    def open(self, corpus: CorpusView, index_dir: Path) -> Bm25Searcher:
        """Load scores by memory map, chunks whole."""
        import pyarrow.parquet as pq

        model = _import_bm25s().BM25.load(index_dir, mmap=True)
        tokenizer = self._tokenizer()
        tokenizer.load_vocab(index_dir)
        chunks = pq.read_table(index_dir / _CHUNKS)
        return Bm25Searcher(model, tokenizer, chunks, is_files=corpus.kind == "files")

    def _tokenizer(self) -> Any:
        return _import_bm25s().tokenization.Tokenizer(
            lower=False,  # the splitter lowers, after it has seen camelCase
            splitter=code_tokens if self._config.split_identifiers else plain_tokens,
            stopwords="english" if self._config.stopwords else None,
        )


class Bm25Searcher:
    """An opened index."""

    def __init__(self, model: Any, tokenizer: Any, chunks: Any, *, is_files: bool) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._chunks = chunks
        self._is_files = is_files

    def search(self, query: Query) -> Answer:
        """Chunks by score; equal scores in path order, so that a run can be repeated exactly."""
        import numpy as np

        (ids,) = self._tokenizer.tokenize(
            [query.text],
            update_vocab=False,
            return_as="ids",
            show_progress=False,
            allow_empty=False,
        )
        if not ids:
            return Answer(hits=())
        scores = self._model.get_scores_from_ids(ids)
        matching = np.flatnonzero(scores > 0)
        best = matching[np.argsort(-scores[matching], kind="stable")][: query.depth]
        rows = self._chunks.take(best).to_pylist()
        return Answer(
            hits=[
                self._hit(row, float(score)) for row, score in zip(rows, scores[best], strict=True)
            ]
        )

    def close(self) -> None:
        """Nothing is held but memory."""

    def _hit(self, row: Mapping[str, Any], score: float) -> RawHit:
        if not self._is_files:
            return RawHit(doc_id=row["path"], text=row["text"], score=score, branch="bm25")
        return RawHit(
            raw_path=row["path"],
            start_line=row["start_line"],
            end_line=row["end_line"],
            qualified_name=row["qualified_name"],
            text=row["text"],
            score=score,
            branch="bm25",
        )


def _import_bm25s() -> ModuleType:
    """bm25s on numpy alone, on every machine.

    Where numba and scipy happen to be installed it imports both, four seconds for nothing: the
    backend is numpy's in any case, so that scores do not depend on what else is there.
    """
    if "bm25s" in sys.modules:
        return sys.modules["bm25s"]
    hidden: list[str] = [name for name in ("numba", "scipy") if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None: "not installed"
    try:
        return import_module("bm25s")
    finally:
        for name in hidden:
            del sys.modules[name]


def make(config: CONFIG, setup: Setup) -> Bm25System:
    """The system for one configuration."""
    del setup
    return Bm25System(config)
