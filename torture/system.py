"""A system without surprises: a sweep that was disturbed must end like one that was not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalake_runners.adapters.protocol import Answer, CorpusView, IndexReport, Query, RawHit
from evalake_runners.adapters.setup import Setup, Strict


class CONFIG(Strict):
    """`turn` makes arms that answer differently."""

    turn: int = 0


class Steady:
    """Answers the paths of the corpus, turned by the task's own number."""

    name, version, adapter_version = "steady", "1", "1"
    output, needs_network = "ranked", False

    def __init__(self, config: CONFIG) -> None:
        self.config = config

    def public_config(self) -> Mapping[str, Any]:
        """All there is."""
        return {"turn": self.config.turn}

    def config_files(self) -> Mapping[str, Path]:
        """None."""
        return {}

    def ingestion_config(self) -> Mapping[str, Any]:
        """None: all arms share an index."""
        return {}

    def index(self, corpus: CorpusView, index_dir: Path) -> IndexReport:
        """Write a file, so that there is something to tear."""
        (index_dir / "paths").write_text("\n".join(corpus.paths), encoding="utf-8")
        return IndexReport(n_chunks=len(corpus.paths))

    def open(self, corpus: CorpusView, index_dir: Path) -> Steady:
        """Read it back."""
        self.paths = (index_dir / "paths").read_text(encoding="utf-8").split("\n")
        self.root = corpus.root
        return self

    def search(self, query: Query) -> Answer:
        """A list that depends on nothing but the task and the arm."""
        start = (query.seed + self.config.turn) % len(self.paths)
        paths = (self.paths[start:] + self.paths[:start])[: query.depth]
        return Answer(
            hits=[
                RawHit(raw_path=path, score=1 / rank, text=f"text of {path}")
                for rank, path in enumerate(paths, start=1)
            ]
        )

    def close(self) -> None:
        """Nothing is open."""


def make(config: CONFIG, setup: Setup) -> Steady:  # noqa: ARG001 - what adapters have
    """The adapter's entry."""
    return Steady(config)
