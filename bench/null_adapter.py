"""A system that costs nothing: ten hits of the corpus, whatever the question."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalake_runners.adapters.protocol import Answer, CorpusView, IndexReport, Query, RawHit
from evalake_runners.adapters.setup import Setup, Strict


class CONFIG(Strict):
    """Nothing to set."""


class NullSystem:
    """`System` whose own time is next to nothing, so that what is left is the engine's."""

    name = "null"
    version = "1"
    adapter_version = "1"
    output = "ranked"
    needs_network = False

    def public_config(self) -> Mapping[str, Any]:
        """Nothing."""
        return {}

    def config_files(self) -> Mapping[str, Path]:
        """None."""
        return {}

    def ingestion_config(self) -> Mapping[str, Any]:
        """Nothing."""
        return {}

    def index(self, corpus: CorpusView, index_dir: Path) -> IndexReport:
        """Nothing to do."""
        del index_dir
        return IndexReport(counts={"files": len(corpus.paths)})

    def open(self, corpus: CorpusView, index_dir: Path) -> NullSearcher:
        """Ready at once."""
        del index_dir
        return NullSearcher(corpus)


class NullSearcher:
    """Answers from the corpus's own list of paths."""

    def __init__(self, corpus: CorpusView) -> None:
        self._paths = corpus.paths

    def search(self, query: Query) -> Answer:
        """`query.depth` neighbouring files, other ones for each task, with a score and lines."""
        start = query.seed % len(self._paths)
        hits = [
            RawHit(
                raw_path=self._paths[(start + offset) % len(self._paths)],
                score=1.0 / (offset + 1) + (query.seed % 1009) / 1e6,
                start_line=1 + (query.seed + offset) % 500,
                end_line=40 + (query.seed + offset) % 500,
            )
            for offset in range(query.depth)
        ]
        return Answer(hits=hits)

    def close(self) -> None:
        """Nothing is held."""


def make(config: CONFIG, setup: Setup) -> NullSystem:
    """The system."""
    del config, setup
    return NullSystem()
