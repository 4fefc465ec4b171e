"""Read a retrieval pipeline without running it: what it needs, and how many hits it can give."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from evalake_runners.configuration.yaml_file import dotted
from evalake_runners.configuration.yaml_values import PlainValues, check_bounds
from evalake_warehouse.errors import ConfigError, Problem

_NEEDS = {
    "chunk_fetcher": "fts_rows",
    "dense_fetcher": "vectors",
    "dense_scorer": "vectors",
    "graph_expand": "edges",
    "centrality_prior": "node_scores",
    "community_diversity": "node_scores",
    "late_interaction_scorer": "token_vectors",
    "llm_tree_reasoning": "trees",
}
# What pydocs-mcp 0.8 uses where a step does not say. A list is never longer than the shortest cap.
_CAPS = {
    "chunk_fetcher": ("limit", 50),
    "dense_fetcher": ("limit", 50),
    "top_k_filter": ("k", 50),
    "late_interaction_scorer": ("top_k", 100),
    "limit": ("max_results", 8),
}
_TREE_STEP = "llm_tree_reasoning"
_COMPOSITE_STEP = "token_budget_formatter"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A pipeline file and what follows from its steps."""

    path: Path
    document: Mapping[str, Any]
    step_types: frozenset[str]
    deepest: int | None  # most hits it can give; None where no step limits them

    @property
    def needs(self) -> frozenset[str]:
        """Names of the index counts that must not be zero."""
        return frozenset(_NEEDS[kind] for kind in self.step_types if kind in _NEEDS)

    @property
    def is_composite(self) -> bool:
        """Whether its answer is one text made from the hits."""
        return _COMPOSITE_STEP in self.step_types

    @property
    def asks_llm(self) -> bool:
        """Whether it calls a language model."""
        return _TREE_STEP in self.step_types

    def document_for(self, max_tree_tokens: int | None) -> dict[str, Any]:
        """The pipeline as pydocs-mcp takes it, with that limit on trees shown to a model."""
        document = copy.deepcopy(dict(self.document))
        if max_tree_tokens is not None:
            for step in _walk(document["steps"]):
                if step["type"] == _TREE_STEP:
                    step["params"] = {**params_of(step), "max_tree_tokens": max_tree_tokens}
        return document


def read_pipeline(path: Path) -> Pipeline:
    """Parse a retrieval pipeline.

    Raises:
        ConfigError: it is not YAML, or lacks the shape of a pydocs-mcp pipeline.
    """
    document = read_yaml(path)
    steps = document.get("steps")
    if not isinstance(steps, list) or not all(_is_step(step) for step in steps):
        raise ConfigError(
            [Problem(f"{path}: `steps`", "must be a list of steps, each with `name` and `type`")]
        )
    types = frozenset(str(step["type"]) for step in _walk(steps))
    return Pipeline(path, document, types, _deepest(steps, None))


def ingestion_stages(path: Path) -> tuple[str, ...]:
    """The stage types of an ingestion pipeline, in order.

    Raises:
        ConfigError: it is not YAML, or has no list of stages.
    """
    stages = read_yaml(path).get("stages")
    if not isinstance(stages, list) or not all(isinstance(stage, dict) for stage in stages):
        raise ConfigError([Problem(f"{path}: `stages`", "must be a list of stages with a `type`")])
    return tuple(str(stage.get("type")) for stage in stages)


def read_yaml(path: Path) -> Mapping[str, Any]:
    """A YAML file whose top level is a mapping.

    Raises:
        ConfigError: it cannot be read or parsed.
    """
    try:
        text = path.read_text(encoding="utf-8")
        check_bounds(str(path), text)
        values = PlainValues(yaml.safe_load(text))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError([Problem(str(path), f"cannot be read: {error}")]) from error
    if values.problems:
        raise ConfigError(
            [Problem(f"{path}: `{dotted(loc)}`", what) for loc, what in values.problems]
        )
    if not isinstance(values.content, dict):
        raise ConfigError([Problem(str(path), "must hold a mapping")])
    return values.content


def _is_step(step: object) -> bool:
    return isinstance(step, dict) and "type" in step


def params_of(step: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters of a step; none where it has none."""
    params = step.get("params")
    return params if isinstance(params, dict) else {}


def inner_steps(step: Mapping[str, Any]) -> Iterator[Sequence[dict[str, Any]]]:
    """The step lists inside a parallel, conditional or nested step."""
    params = params_of(step)
    for branch in params.get("branches") or ():
        yield branch.get("steps") or ()
    if params.get("stages"):
        yield params["stages"]
    if isinstance(params.get("stage"), dict):
        yield (params["stage"],)
    if params.get("steps"):
        yield params["steps"]


def _walk(steps: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for step in steps:
        yield step
        for inner in inner_steps(step):
            yield from _walk(inner)


def _deepest(steps: Sequence[dict[str, Any]], cap: int | None) -> int | None:
    for step in steps:
        branches = [_deepest(inner, cap) for inner in inner_steps(step)]
        if branches:
            # Fused branches may agree on every item, so only the longest one is sure.
            cap = None if None in branches else max(b for b in branches if b is not None)
        if step["type"] in _CAPS:
            key, default = _CAPS[step["type"]]
            here = int(params_of(step).get(key, default))
            is_source = step["type"].endswith("_fetcher")
            cap = here if cap is None or is_source else min(cap, here)
    return cap
