"""Complete a task's gold from its corpus: what is not in it is dropped, what follows is added."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from evalake_ingest.corpora.store import StoredCorpus, load_symbols
from evalake_ingest.corpora.symbols import SuffixIndex, Symbol
from evalake_ingest.records import Drop, DropReason, GoldItem, Qrel, Task
from evalake_warehouse.project import Project

RELEVANT_ROLES = frozenset({"primary", "core"})


@dataclass
class CorpusFacts:
    """What gold is checked against. Symbols are read only where gold names some."""

    project: Project
    corpus: StoredCorpus

    @cached_property
    def paths(self) -> frozenset[str]:
        """Files, or doc ids."""
        return frozenset(self.corpus.paths)

    @cached_property
    def symbols(self) -> list[Symbol]:
        """Every definition."""
        return load_symbols(self.project, self.corpus.corpus_id)

    @cached_property
    def by_name(self) -> dict[str, Symbol]:
        """Definitions by qualified name; of several of one name, the longest."""
        return {symbol.qualified_name: symbol for symbol in by_length(self.symbols)}

    @cached_property
    def by_path(self) -> dict[str, list[Symbol]]:
        """Definitions by file; of several of one name, the longest comes last."""
        found: defaultdict[str, list[Symbol]] = defaultdict(list)
        for symbol in by_length(self.symbols):
            found[symbol.path].append(symbol)
        return found

    @cached_property
    def fingerprints(self) -> frozenset[str]:
        """Fingerprints of every definition."""
        return frozenset(symbol.fingerprint for symbol in self.symbols)

    @cached_property
    def suffixes(self) -> SuffixIndex:
        """Names that mean one definition."""
        return SuffixIndex(self.symbols)

    def find(self, name: str, path: str | None) -> Symbol | None:
        """The definition of a name; in a known file also by its in-module name or an alias."""
        if path is None:
            return self.by_name.get(name)
        for symbol in reversed(self.by_path.get(path, [])):
            if name in {symbol.symbol, *self.suffixes.names(symbol)}:
                return symbol
        return None


def by_length(symbols: list[Symbol]) -> list[Symbol]:
    """Shortest first: of overloads and property accessors of one name, the last one is the body."""
    return sorted(symbols, key=lambda symbol: symbol.n_lines)


@dataclass
class Completed:
    """A task with the gold its corpus supports, and what had to go."""

    task: Task | None  # None where no relevant gold is left
    drops: list[Drop] = field(default_factory=list)


def complete_task(task: Task, facts: CorpusFacts | None) -> Completed:
    """Check every qrel against the corpus, and add file gold and alternative symbol names.

    A gold item keeps the qrels that the corpus can answer; without any it is dropped. A task
    that loses all its relevant gold is dropped whole. A symbol that was given without lines
    takes its place, its full name and its fingerprint from the corpus. Without a corpus at hand
    (a ranking imported from elsewhere) nothing is checked.
    """
    if facts is None:
        return Completed(task)
    kept: list[GoldItem] = []
    drops: list[Drop] = []
    for item in task.gold:
        placed = tuple(_placed(item, facts))
        qrels = tuple(qrel for qrel in placed if _is_present(qrel, facts))
        if qrels:
            kept.append(replace(item, qrels=tuple(_with_aliases(qrels, facts))))
        else:
            drops.append(_gone(task, item))
    had_gold = any(item.role in RELEVANT_ROLES for item in task.gold)
    if had_gold and not any(item.role in RELEVANT_ROLES for item in kept):
        return Completed(None, drops)
    # A row without gold of its own (judged, and nothing was relevant) is kept as it is.
    return Completed(replace(task, gold=(*kept, *_file_gold(kept))), drops)


def _placed(item: GoldItem, facts: CorpusFacts) -> Iterator[Qrel]:
    """Qrels of an item, where symbols without lines are those of the corpus, or left out."""
    has_code = any(qrel.relation == "fingerprint" for qrel in item.qrels)
    for qrel in item.qrels:
        if qrel.relation != "symbol" or qrel.start_line is not None or qrel.key is None:
            yield qrel
        elif symbol := facts.find(qrel.key, qrel.path):
            name, path = symbol.qualified_name, symbol.path
            yield Qrel("symbol", name, path, symbol.start_line, symbol.end_line)
            if not has_code:
                yield Qrel("fingerprint", key=symbol.fingerprint)


def _is_present(qrel: Qrel, facts: CorpusFacts) -> bool:
    match qrel.relation:
        case "file" | "lines":
            return qrel.path in facts.paths
        case "doc_id":
            return qrel.key in facts.paths
        case "fingerprint":
            return qrel.key in facts.fingerprints
        case "symbol":
            return qrel.key in facts.by_name and (qrel.path is None or qrel.path in facts.paths)
        case "text":
            return True  # judged by content after the run; no corpus can promise a match


def _with_aliases(qrels: tuple[Qrel, ...], facts: CorpusFacts) -> Iterator[Qrel]:
    for qrel in qrels:
        yield qrel
        if qrel.relation == "symbol" and qrel.key in facts.by_name:
            for name in facts.suffixes.names(facts.by_name[qrel.key])[1:]:
                # The name alone: path and lines are judged once, by the row above.
                yield Qrel("symbol", key=name)


def _file_gold(items: list[GoldItem]) -> Iterator[GoldItem]:
    """File-level gold of the files that finer gold lies in, where the task does not state it."""
    by_path: defaultdict[str, list[GoldItem]] = defaultdict(list)
    stated: set[str] = set()
    for item in items:
        for path in dict.fromkeys(qrel.path for qrel in item.qrels if qrel.path):
            if item.level == "file":
                stated.add(path)
            else:
                by_path[path].append(item)
    for path, owners in sorted(by_path.items()):
        if path in stated:
            continue
        best = min(owners, key=lambda item: (item.role not in RELEVANT_ROLES, -item.grade))
        yield replace(
            best,
            gold_id=path,
            level="file",
            qrels=(Qrel("file", path=path),),
            truth_method=f"file of {best.level}",
        )


def _gone(task: Task, item: GoldItem) -> Drop:
    relations = {qrel.relation for qrel in item.qrels}
    reason: DropReason = (
        "fingerprint_not_in_corpus" if relations == {"fingerprint"} else "gold_not_in_corpus"
    )
    return Drop(
        source_row=task.source_row or task.task_id,
        reason=reason,
        task_id=task.task_id,
        evidence=f"{item.level} gold {item.gold_id}",
    )
