"""Which arms differ by one change: fused from parts, with a re-ranker, with structure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalake_warehouse.errors import UsageError
from evalake_warehouse.questions.runs import Run


@dataclass(frozen=True, slots=True)
class Kind:
    """One sort of change; `name` heads a chart, `title` completes "differ by ..."."""

    name: str
    title: str


KINDS: Mapping[str, Kind] = {
    "fusion": Kind("Fusion against its parts", "fusion"),
    "reranker": Kind("Without and with a re-ranker", "a re-ranker"),
    "structure": Kind("Without and with code structure", "code structure"),
}


@dataclass(frozen=True, slots=True)
class Variant:
    """An arm, and the arms that it builds on."""

    before: tuple[Run, ...]
    after: Run


_WORDS: Mapping[str, re.Pattern[str]] = {
    "lexical": re.compile(r"lexical|bm25|fts|splade"),
    "dense": re.compile(r"dense|embed(?!ding\b)|vector"),
    "late": re.compile(r"late.?interaction|colbert"),
    "fusion": re.compile(r"\brrf|fusion|hybrid|weighted|interpolat"),
    "reranker": re.compile(r"re.?rank|rescor|cross.?encoder"),
    "structure": re.compile(r"graph|centrality|structur|neighbou?r|pagerank"),
}
_BRANCHES = frozenset({"lexical", "dense", "late"})


def find_variants(
    runs: Sequence[Run], kind: str | None = None, pairs: Sequence[tuple[str, str]] = ()
) -> list[Variant]:
    """Changes of one kind among the runs, or the pairs named.

    What an arm is made of is read from its label and from the names in its configuration
    (`pipelines/rrf_k60.yaml`), compared within one system.

    Raises:
        UsageError: an unknown kind.
    """
    if pairs:
        by_id = {run.run_id: run for run in runs}
        return [Variant((by_id[before],), by_id[after]) for before, after in pairs]
    if kind is None or kind not in KINDS:
        raise UsageError(f"no kind of change {kind!r}; there are: {', '.join(KINDS)}")
    parts = {run.run_id: ingredients(run) for run in runs if not run.is_control}
    known = [run for run in runs if run.run_id in parts]
    found = []
    for after in known:
        before = (
            _parts_of(after, known, parts)
            if kind == "fusion"
            else _without(after, known, parts, kind)
        )
        if before:
            found.append(Variant(tuple(before), after))
    return found


def ingredients(run: Run) -> frozenset[str]:
    """Components of an arm (branches, re-ranker, ...), read from its label and file names."""
    text = " ".join([run.arm_label, *_names(run.config)]).lower().replace("_", " ")
    return frozenset(name for name, words in _WORDS.items() if words.search(text))


def _names(config: object) -> Iterator[str]:
    """Keys that are switched on, and text values, of a configuration at any depth."""
    if isinstance(config, str):
        yield config
    elif isinstance(config, Mapping):
        for key, value in config.items():
            if key in {"embedding", "models", "llm", "late_interaction", "ingestion"}:
                continue
            if value is True:
                yield str(key)
            yield from _names(value)
    elif isinstance(config, list | tuple):
        for value in config:
            yield from _names(value)


def _parts_of(after: Run, runs: Sequence[Run], parts: Mapping[str, frozenset[str]]) -> list[Run]:
    mine = parts[after.run_id]
    if "fusion" not in mine or mine & {"reranker", "structure"}:
        return []
    singles = [
        run
        for run in runs
        if run.system == after.system
        and len(parts[run.run_id]) == 1
        and parts[run.run_id] <= _BRANCHES
    ]
    return singles if len({parts[run.run_id] for run in singles}) > 1 else []


def _without(
    after: Run, runs: Sequence[Run], parts: Mapping[str, frozenset[str]], kind: str
) -> list[Run]:
    if kind not in parts[after.run_id]:
        return []
    rest = parts[after.run_id] - {kind}
    same = [run for run in runs if run.system == after.system and parts[run.run_id] == rest]
    # Of several that fit, the one that is named most alike: rrf_k60 for rrf_k60_rescored.
    same.sort(key=lambda run: difflib.SequenceMatcher(None, run.arm_label, after.arm_label).ratio())
    return same[-1:]
