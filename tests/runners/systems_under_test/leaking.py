"""A system that tells its secrets wherever it can."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from evalake_runners.adapters.protocol import Answer, CorpusView, IndexReport, Query, RawHit
from evalake_runners.adapters.setup import Setup, Strict


class CONFIG(Strict):
    password: SecretStr = SecretStr("")
    names: tuple[str, ...] = ()  # of the variables whose values it tells
    shapes: str = ""  # what else it tells in its own words


class Leaking:
    name, version, adapter_version = "leaking", "1", "1"
    output, needs_network = "ranked", False

    def __init__(self, config: CONFIG) -> None:
        self.config = config
        self.values = [os.environ[name] for name in config.names]
        self.values.append(config.password.get_secret_value())
        self.told = " | ".join([*self.values, config.shapes])

    def public_config(self) -> Mapping[str, Any]:
        return {"url": self.told, "nested": [{"password": "plain-in-config"}]}

    def config_files(self) -> Mapping[str, Path]:
        return {}

    def ingestion_config(self) -> Mapping[str, Any]:
        return {}

    def index(self, corpus: CorpusView, index_dir: Path) -> IndexReport:
        (index_dir / "built").touch()
        return IndexReport(n_chunks=1, counts={self.told: len(corpus.paths)})

    def open(self, corpus: CorpusView, index_dir: Path) -> Leaking:
        print(f"{corpus} {index_dir} {self.told}", file=sys.stderr, flush=True)
        self.paths = sorted(corpus.paths)[:8]
        return self

    def search(self, query: Query) -> Answer:
        print(f"asked with {self.told}", file=sys.stderr, flush=True)
        match int(query.task_id[-2:]) % 3:
            case 0:
                raise ValueError(f"refused: {self.told}")
            case 1:
                print(f"last words {self.told}", file=sys.stderr, flush=True)
                os._exit(9)
        values = " | ".join(self.values)
        hit = RawHit(
            doc_id=f"doc {values}", title=self.told, reason=self.told, text=f"text {values}",
            qualified_name=f"name {values}", branch=values,
        )  # fmt: skip
        # Gold is among the files, so that the run has a score to freeze.
        files = [RawHit(raw_path=path) for path in self.paths]
        return Answer(hits=[hit, *files], call=self.told, resolved_library=values)

    def close(self) -> None:
        pass


def make(config: CONFIG, setup: Setup) -> Leaking:
    return Leaking(config)
