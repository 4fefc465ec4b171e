"""Answer queries from a finished index, in this process."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalake_runners.adapters.protocol import Answer, Query, RawHit, Spending
from evalake_runners.adapters.pydocs_mcp.branches import EXPANDED, OF_STAMP, RANKED, SEEDS

if TYPE_CHECKING:
    from pydocs_mcp.models import Chunk

    from evalake_runners.adapters.pydocs_mcp.llm import LlmClient

# Pointers such as [[next:lookup:flask.Flask]] address tools, not readers: they are no content.
_POINTER = re.compile(r"[ \t]*\[\[next:[^\]\n]*\]\]")


@dataclass(slots=True)
class InProcessSearcher:
    """One pipeline over one index; not shared between threads."""

    pipeline: Any
    is_composite: bool
    title_is_doc_id: bool
    llm: LlmClient | None
    runner: asyncio.Runner

    def search(self, query: Query) -> Answer:
        """Run the pipeline for one query."""
        if self.llm is not None:
            self.llm.begin(query.task_id)
        from pydocs_mcp.models import SearchQuery

        # A composite is one item of many hits: its depth says nothing about how many it is made of.
        limit = {} if self.is_composite else {"max_results": query.depth}
        asked = SearchQuery(terms=query.text, **limit)
        state = self.runner.run(self.pipeline.run(asked))
        if self.is_composite:
            hits = _composite_hits(state)
        else:
            hits = self._ranked_hits(state)[: query.depth]
        spending = self.spending()
        return Answer(
            hits,
            n_tool_calls=spending.n_tool_calls,
            cost_usd=spending.cost_usd,
            phase_seconds=spending.phase_seconds,
        )

    def spending(self) -> Spending:
        """What the language model has taken for the query at hand, answered or not."""
        if self.llm is None:
            return Spending()
        spent = self.llm.spent()
        return Spending(spent.n_calls, spent.cost_usd, {"llm": spent.seconds})

    def close(self) -> None:
        """Close connections and end the event loop."""
        if self.llm is not None:
            self.runner.run(self.llm.close())
        self.runner.close()

    def _ranked_hits(self, state: Any) -> list[RawHit]:
        if state.candidates is None:
            return []
        branches, lifted = _branches_by_chunk(state.scratch), _lifted_by_graph(state.scratch)
        return [
            self._hit(chunk, _branch(chunk, branches, lifted)) for chunk in state.candidates.items
        ]

    def _hit(self, chunk: Chunk, branch: str) -> RawHit:
        metadata = chunk.metadata
        title = metadata.get("title")
        if self.title_is_doc_id:
            return RawHit(
                item_id=title,
                doc_id=title,
                title=title,
                text=chunk.text,
                score=chunk.relevance,
                branch=branch,
            )
        return RawHit(
            score=chunk.relevance,
            raw_path=metadata.get("source_path"),
            start_line=metadata.get("start_line"),
            end_line=metadata.get("end_line"),
            qualified_name=metadata.get("qualified_name"),
            title=title,
            text=chunk.text,
            branch=branch,
        )


def _branch(chunk: Chunk, branches: Mapping[Any, str], lifted: set[Any]) -> str:
    stamp = chunk.retriever_name
    found_by = branches.get(chunk.id) or OF_STAMP.get(stamp, str(stamp))
    return f"{found_by}+graph" if chunk.id in lifted and found_by != "graph" else found_by


def _composite_hits(state: Any) -> list[RawHit]:
    if state.result is None:
        return []
    return [
        RawHit(item_id=f"composite-{number}", text=strip_pointers(chunk.text), branch="composite")
        for number, chunk in enumerate(state.result.items, start=1)
    ]


def strip_pointers(text: str) -> str:
    """A composite answer without its pointer tokens, and without lines that were only pointers."""
    kept = []
    for line in text.splitlines():
        bare, n_pointers = _POINTER.subn("", line)
        is_label = bare.rstrip().endswith(":") or not bare.strip()  # such as `Together:`
        if n_pointers == 0 or not is_label:
            kept.append(bare)
    return "\n".join(kept)


def _branches_by_chunk(scratch: Mapping[str, Any]) -> dict[Any, str]:
    """Chunk id -> the branches that ranked it, such as `bm25+dense`.

    Fused hits keep the stamp of the first branch only; the lists that branches publish as
    `NAME.ranked` tell them all.
    """
    found: dict[Any, list[str]] = {}
    for key in sorted(scratch):
        if key.endswith(RANKED) and key != EXPANDED:
            for chunk in scratch[key].items:
                found.setdefault(chunk.id, []).append(key.removesuffix(RANKED))
    return {chunk_id: "+".join(names) for chunk_id, names in found.items()}


def _lifted_by_graph(scratch: Mapping[str, Any]) -> set[Any]:
    """Ids of chunks that graph expansion found, or scored higher than they came in."""
    if EXPANDED not in scratch:
        return set()
    seeds = {chunk.id: chunk.relevance for chunk in scratch[SEEDS].items}
    return {
        chunk.id
        for chunk in scratch[EXPANDED].items
        if chunk.id not in seeds or chunk.relevance != seeds[chunk.id]
    }
