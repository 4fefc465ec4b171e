"""A system that answers well, or misbehaves on the tasks that its configuration names."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from evalake_runners.adapters.protocol import (
    Answer,
    CorpusView,
    IndexReport,
    NotAttemptedError,
    Query,
    RawHit,
)
from evalake_runners.adapters.setup import Setup, Strict


class CONFIG(Strict):
    on: Mapping[str, str] = Field(default_factory=dict)  # end of a task id -> what goes wrong
    everywhere: str = "none"
    index: str = "none"
    opening: str = "none"
    delay_s: float = 0.0
    cost_usd: float | None = None
    version: str = "1"
    mark: str = "hung-child"  # on the command line of the child that a hang leaves


class Misbehaving:
    name = "misbehaving"
    adapter_version = "1"
    output = "ranked"
    needs_network = False

    def __init__(self, config: CONFIG) -> None:
        self.config = config
        self.version = config.version

    def public_config(self) -> Mapping[str, Any]:
        return self.config.model_dump(exclude={"version"})

    def config_files(self) -> Mapping[str, Path]:
        return {}

    def ingestion_config(self) -> Mapping[str, Any]:
        return {"index": self.config.index}

    def index(self, corpus: CorpusView, index_dir: Path) -> IndexReport:
        misbehave(self.config.index)
        with (index_dir / "built").open("a") as file:
            file.write("once\n")
        return IndexReport(n_chunks=len(corpus.paths), counts={"files": len(corpus.paths)})

    def open(self, corpus: CorpusView, index_dir: Path) -> MisbehavingSearcher:
        misbehave(self.config.opening)
        assert (index_dir / "built").read_text() == "once\n"
        return MisbehavingSearcher(self.config, corpus)


class MisbehavingSearcher:
    def __init__(self, config: CONFIG, corpus: CorpusView) -> None:
        self.config = config
        self.corpus = corpus

    def search(self, query: Query) -> Answer:
        time.sleep(self.config.delay_s)
        for end, what in self.config.on.items():
            if query.task_id.endswith(end):
                special = misbehave(what, self.config.mark)
                if special is not None:
                    return special
        misbehave(self.config.everywhere, self.config.mark)
        start = query.seed % len(self.corpus.paths)
        paths = (self.corpus.paths[start:] + self.corpus.paths[:start])[: query.depth + 3]
        hits = [
            RawHit(raw_path=str(self.corpus.root / path), score=1 / rank, text=f"text of {path}")
            for rank, path in enumerate(paths, start=1)
        ]
        return Answer(
            hits=hits, call=f"search {query.text}", cost_usd=self.config.cost_usd,
            phase_seconds={"rank": 0.25, "search": 99.0},
        )  # fmt: skip

    def close(self) -> None:
        pass


def misbehave(what: str, mark: str = "") -> Any:  # noqa: PLR0911, PLR0912 - one line per way to go wrong
    """Do one thing wrong, or return an odd answer."""
    match what:
        case "none":
            return None
        case "raise":
            raise ValueError("it went wrong")
        case "secret":
            raise ValueError(f"401 for key {os.environ['TOY_API_KEY']} in Bearer abcdef1234567890")
        case "recurse":
            return _recurse(0)
        case "exit":
            sys.exit(3)
        case "crash":
            print("last words of the system", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)
        case "quiet_kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "hang":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", mark])
            time.sleep(600)
        case "garbage":
            print("\x00\xff not json {[", flush=True)
            os.write(1, b"\xde\xad\xbe\xef" * 1000)
            return None
        case "empty":
            return Answer(hits=[])
        case "surrogates":
            odd = "a\ud800b"
            return Answer(hits=[RawHit(raw_path=odd, title=odd, text=odd)], payload=odd)
        case "large":
            text = "x" * 10_000_000
            return Answer(hits=[RawHit(doc_id="large", text=text)], payload=text)
        case "nan":
            return Answer(hits=[RawHit(raw_path="pkg/mod_00.py", score=float("nan"), start_line=0)])
        case "wrong_type":
            return ["not an answer"]
        case "wrong_field":
            return Answer(hits=[RawHit(raw_path=Path("pkg/mod_00.py"))])  # type: ignore[arg-type]
        case "not_attempted":
            raise NotAttemptedError("its documentation says: locate only")
        case "network":
            import urllib.request

            urllib.request.urlopen("http://192.0.2.1/", timeout=5)
        case _:
            raise AssertionError(what)
    return None


def _recurse(depth: int) -> int:
    return _recurse(depth + 1) + 1


def make(config: CONFIG, setup: Setup) -> Misbehaving:
    return Misbehaving(config)
