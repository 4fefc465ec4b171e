"""Control systems: the perfect answer, no answer, and chance."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from evalake_runners.adapters.chunking import read_documents
from evalake_runners.adapters.protocol import Answer, CorpusView, IndexReport, Query, RawHit
from evalake_runners.adapters.setup import Adapter, Setup, Strict

Answering = Callable[[CorpusView, Query], Sequence[RawHit]]


class NoConfig(Strict):
    """A control has nothing to set."""


class RandomConfig(Strict):
    """Configuration of the `random` control."""

    window_lines: int | None = Field(
        default=None,
        ge=1,
        description="Answer so many lines from a random place of each file or document, with their "
        "text: chance where gold is matched by content.  [default: whole files, without text]",
    )


class ControlSystem:
    """A system that needs no index and answers by a function."""

    version = "1"
    adapter_version = "1"
    output = "ranked"
    needs_network = False

    def __init__(
        self,
        name: str,
        answering: Callable[[], Answering],
        *,
        config: Mapping[str, Any] | None = None,
        gives_text: bool = True,
        needs_corpus: bool = False,
    ) -> None:
        self.name = name
        self.gives_text = gives_text
        self.needs_corpus = needs_corpus
        self._answering = answering
        self._config = config or {}

    def public_config(self) -> Mapping[str, Any]:
        """What was set; nothing by default."""
        return self._config

    def config_files(self) -> Mapping[str, Path]:
        """None."""
        return {}

    def ingestion_config(self) -> Mapping[str, Any]:
        """Nothing."""
        return {}

    def index(self, corpus: CorpusView, index_dir: Path) -> IndexReport:
        """Nothing to do."""
        del index_dir
        return IndexReport(counts={corpus.kind: len(corpus.paths)})

    def open(self, corpus: CorpusView, index_dir: Path) -> ControlSearcher:
        """Ready at once."""
        del index_dir
        return ControlSearcher(corpus, self._answering())


class ControlSearcher:
    """One corpus and the function that answers."""

    def __init__(self, corpus: CorpusView, answering: Answering) -> None:
        self._corpus = corpus
        self._answering = answering

    def search(self, query: Query) -> Answer:
        """At most `query.depth` hits."""
        return Answer(hits=self._answering(self._corpus, query)[: query.depth])

    def close(self) -> None:
        """Nothing is held."""


def no_hits(corpus: CorpusView, query: Query) -> Sequence[RawHit]:
    """The `empty` control."""
    del corpus, query
    return ()


def gold_answers(setup: Setup) -> Answering:
    """The `gold` control: each relevant item of a task, told in every way the dataset knows."""
    from evalake_ingest.editions.gold_answers import load_gold_hits

    by_task = load_gold_hits(setup.project, setup.dataset, setup.edition)

    def answer(corpus: CorpusView, query: Query) -> Sequence[RawHit]:
        del corpus
        return [
            RawHit(
                item_id=hit.item_id,
                raw_path=hit.path,
                start_line=hit.start_line,
                end_line=hit.end_line,
                qualified_name=hit.qualified_name,
                doc_id=hit.doc_id,
                text=hit.text,
            )
            for hit in by_task[query.task_id]
        ]

    return answer


def random_hits(run_seed: int) -> Answering:
    """Distinct items of the corpus, drawn by the task's seed and the run's."""

    def answer(corpus: CorpusView, query: Query) -> Sequence[RawHit]:
        drawn = draw_distinct(corpus.paths, query.depth, seed=query.seed ^ run_seed)
        if corpus.kind == "documents":
            return [RawHit(doc_id=item) for item in drawn]
        return [RawHit(raw_path=item) for item in drawn]

    return answer


def random_windows(run_seed: int, window_lines: int) -> Answering:
    """Windows of lines with their text, each at a random place of another item of the corpus."""
    documents: dict[str, dict[str, str]] = {}

    def text_of(corpus: CorpusView, item: str) -> str:
        if corpus.kind == "files":
            return (corpus.root / item).read_bytes().decode("utf-8", "replace")
        if corpus.corpus_id not in documents:
            documents[corpus.corpus_id] = dict(read_documents(corpus))
        return documents[corpus.corpus_id][item]

    def answer(corpus: CorpusView, query: Query) -> Sequence[RawHit]:
        seed = query.seed ^ run_seed
        places = random.Random(seed)  # noqa: S311
        hits = []
        for item in draw_distinct(corpus.paths, query.depth, seed=seed):
            lines = text_of(corpus, item).split("\n")
            start = int(places.random() * max(1, len(lines) - window_lines + 1))
            window = lines[start : start + window_lines]
            text = "\n".join(window)
            hits.append(
                RawHit(raw_path=item, start_line=start + 1, end_line=start + len(window), text=text)
                if corpus.kind == "files"
                else RawHit(doc_id=item, text=text)
            )
        return hits

    return answer


def draw_distinct(items: Sequence[str], n: int, *, seed: int) -> list[str]:
    """Up to `n` of `items` without replacement, the same on every Python version.

    A partial Fisher-Yates shuffle over `Random.random`, whose sequence for a seed is
    guaranteed; that of `Random.sample` is not.
    """
    generator = random.Random(seed)  # noqa: S311
    moved: dict[int, int] = {}
    drawn = []
    for first in range(min(n, len(items))):
        other = first + int(generator.random() * (len(items) - first))
        drawn.append(items[moved.get(other, other)])
        moved[other] = moved.get(first, first)
    return drawn


def _make_empty(config: NoConfig, setup: Setup) -> ControlSystem:
    del config, setup
    return ControlSystem("empty", lambda: no_hits)


def _make_random(config: RandomConfig, setup: Setup) -> ControlSystem:
    window_lines = config.window_lines
    if window_lines is None:
        return ControlSystem(
            "random", lambda: random_hits(setup.seed), gives_text=False, needs_corpus=True
        )
    return ControlSystem(
        "random",
        lambda: random_windows(setup.seed, window_lines),
        config=config.model_dump(mode="json"),
        needs_corpus=True,
    )


def _make_gold(config: NoConfig, setup: Setup) -> ControlSystem:
    del config
    return ControlSystem("gold", lambda: gold_answers(setup))


ADAPTERS = {
    "gold": Adapter("gold", "Control: answers the gold, scores 1.0", NoConfig, _make_gold),
    "empty": Adapter("empty", "Control: answers nothing, scores 0.0", NoConfig, _make_empty),
    "random": Adapter(
        "random", "Control: distinct items by the task's seed", RandomConfig, _make_random
    ),
}
