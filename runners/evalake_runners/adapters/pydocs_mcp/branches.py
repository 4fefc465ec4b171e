"""Names of the branches that find hits, and which of them a pipeline claims to have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evalake_runners.adapters.pydocs_mcp.pipelines import Pipeline, inner_steps, params_of

# Which branch a fetcher stamps on its hits. Graph neighbours are fetched without a stamp.
OF_STAMP = {
    "bm25_chunk": "bm25",
    "turboquant_dense": "dense",
    "late_interaction": "late_interaction",
    None: "graph",
}
RANKED = ".ranked"
SEEDS, EXPANDED = "graph.seeds", "graph.ranked"  # published before and after graph expansion

_FETCHERS = {"chunk_fetcher": "bm25_chunk", "dense_fetcher": "turboquant_dense"}
_SCORERS = {"dense_scorer": "dense", "late_interaction_scorer": "late_interaction"}
_FUSIONS = frozenset({"rrf_fusion", "weighted_score_interpolation"})
_FUSED = ("bm25.ranked", "dense.ranked")  # where a fusion does not say
_TREE_KEY = "tree.ranked"


@dataclass(slots=True)
class _Reading:
    """What is known of the candidates after some steps."""

    named: set[str] = field(default_factory=set)  # branches whose name is on hits for good
    stamps: set[str] = field(default_factory=set)  # of candidates that no named list has
    lists: dict[str, set[str]] = field(default_factory=dict)  # published: their stamps

    def copy(self) -> _Reading:
        return _Reading(set(self.named), set(self.stamps), dict(self.lists))


def claimed_branches(pipeline: Pipeline) -> tuple[str, ...]:
    """Branches of a pipeline that some hit of a run must name, if they contributed.

    What a re-ranker takes its candidates from is not claimed, because a list that the re-ranker
    filled alone is no failure. A composite's text does not tell who found its parts.
    """
    if pipeline.is_composite:
        return ()
    reading = _Reading()
    _read(pipeline.document["steps"], reading)
    return tuple(sorted(reading.named | reading.stamps))


def _read(steps: Sequence[Mapping[str, Any]], reading: _Reading) -> None:
    for step in steps:
        kind, params = str(step["type"]), params_of(step)
        if kind in _FETCHERS:
            stamp = params.get("retriever_name", _FETCHERS[kind])
            reading.stamps = {OF_STAMP.get(stamp, str(stamp))}
        elif kind in _SCORERS and reading.stamps:
            reading.stamps = {_SCORERS[kind]}
        elif kind == "graph_expand":
            reading.stamps = reading.stamps | {OF_STAMP[None]}
        elif kind in _FUSIONS:
            keys = params.get("branch_keys", _FUSED)
            reading.stamps = {stamp for key in keys for stamp in reading.lists.get(key, ())}
        elif kind == "llm_tree_reasoning":
            _read_tree(params, reading)
        else:
            _read_inner(step, reading)
        if isinstance(key := params.get("publish_to"), str):
            _publish(key, reading)


def _read_tree(params: Mapping[str, Any], reading: _Reading) -> None:
    key = str(params.get("output_scratch_key", _TREE_KEY))
    if not key.endswith(RANKED):
        return  # its picks carry no name of their own
    reading.lists[key] = set()
    reading.named.add(key.removesuffix(RANKED))
    if params.get("rerank_candidates"):
        reading.stamps = set()


def _read_inner(step: Mapping[str, Any], reading: _Reading) -> None:
    """Steps inside a step: side by side they share published lists only, else they follow."""
    params = params_of(step)
    is_parallel = bool(params.get("branches") or params.get("stages"))
    before = reading.copy()
    for inner in inner_steps(step):
        branch = before.copy() if is_parallel else reading
        _read(inner, branch)
        if is_parallel:
            reading.named |= branch.named
            reading.lists |= branch.lists
        elif "stage" in params:  # under a condition, which may not hold
            reading.stamps = reading.stamps | before.stamps


def _publish(key: str, reading: _Reading) -> None:
    if key == EXPANDED:
        reading.named.add(OF_STAMP[None])
    elif key.endswith(RANKED):
        reading.named.add(key.removesuffix(RANKED))
        reading.stamps = set()
    reading.lists[key] = set(reading.stamps)
