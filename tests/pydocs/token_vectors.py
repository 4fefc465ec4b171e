"""Late interaction without its packages: words for tokens, and an exact MaxSim for the index.

Stands in for PyLate, fast-plaid and the two calls of torch between them. What pydocs-mcp makes of
it, and this adapter of that, is the real thing.
"""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from .word_vectors import WORDS


@dataclass
class WordTokens:
    """`MultiVectorEmbedder` of pydocs-mcp: an axis and a token for each known word."""

    model_name: str = "words"
    dim: int = len(WORDS)

    async def embed_query(self, text: str) -> list[NDArray[np.float32]]:
        return self._tokens(text)

    async def embed_chunks(self, texts: Sequence[str]) -> tuple[list[NDArray[np.float32]], ...]:
        return tuple(map(self._tokens, texts))

    def _tokens(self, text: str) -> list[NDArray[np.float32]]:
        axes = np.eye(self.dim, dtype=np.float32)
        found = [axes[WORDS.index(word)] for word in _words(text) if word in WORDS]
        return found or [np.zeros(self.dim, dtype=np.float32)]


class ExactIndex:
    """`FastPlaid`: the best similarity of each query token, summed over the query."""

    def __init__(self, index: str, **_: object) -> None:
        self._file = Path(index) / "documents.pickle"

    def create(self, documents: Sequence[NDArray[np.float32]]) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_bytes(pickle.dumps(list(documents)))

    def search(
        self, queries_embeddings: NDArray[np.float32], top_k: int, subset: Sequence[int]
    ) -> list[list[tuple[int, float]]]:
        documents = pickle.loads(self._file.read_bytes())  # noqa: S301 - written by `create`
        query = queries_embeddings[0]
        scores = [(place, float((query @ documents[place].T).max(1).sum())) for place in subset]
        return [sorted(scores, key=lambda scored: -scored[1])[:top_k]]


class _Array(np.ndarray[Any, Any]):
    def unsqueeze(self, axis: int) -> NDArray[Any]:
        return np.expand_dims(np.asarray(self), axis)


def matched_words(query: str, text: str) -> int:
    """MaxSim of one-word tokens, by hand: how many words of the query are in the text."""
    return sum(word in _words(text) for word in _words(query) if word in WORDS)


def use_token_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pydocs-mcp use these instead of the packages of its extra."""

    def build(settings: Any) -> WordTokens | None:
        return WordTokens() if settings.enabled else None

    torch = SimpleNamespace(from_numpy=lambda array: array.view(_Array))
    monkeypatch.setitem(sys.modules, "torch", torch)  # type: ignore[arg-type]
    monkeypatch.setattr("pydocs_mcp.storage.fast_plaid_uow._FastPlaidCls", ExactIndex)
    monkeypatch.setattr(
        "evalake_runners.adapters.pydocs_mcp.versions.require_late_interaction", lambda: None
    )
    # The first imports the name from the second, and would keep a stand-in that it found there.
    for module in ("retrieval.factories", "extraction.strategies.embedders"):
        monkeypatch.setattr(f"pydocs_mcp.{module}.build_multi_vector_embedder", build)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())
