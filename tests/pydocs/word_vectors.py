"""An embedder without a model: one dimension per word of a small vocabulary.

Its cosine is the share of words two texts have in common, so the dense order of a query can be
worked out by hand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

WORDS = ("tax", "price", "percentage", "basket", "buy", "sum", "bill", "file", "customer", "value")


@dataclass
class WordVectors:
    """`Embedder` of pydocs-mcp."""

    dim: int = 384
    model_name: str = "words"

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._vector(text)

    async def embed_chunks(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], ...]:
        return tuple(map(self._vector, texts))

    def _vector(self, text: str) -> NDArray[np.float32]:
        found = set(re.findall(r"[a-z]+", text.lower()))
        vector = np.zeros(self.dim, dtype=np.float32)
        for place, word in enumerate(WORDS):
            vector[place] = float(word in found)
        vector[-1] = 0.1  # no text is without a direction
        return vector / np.linalg.norm(vector)


def use_word_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pydocs-mcp build this embedder instead of loading a model."""

    def build(settings: Any) -> WordVectors:
        del settings
        return WordVectors()

    monkeypatch.setattr("pydocs_mcp.extraction.strategies.embedders.build_embedder", build)
    for name in ("build_query_embedder", "build_embedder"):  # its name differs between versions
        monkeypatch.setattr(f"pydocs_mcp.retrieval.factories.{name}", build, raising=False)
