"""Complete a task's gold from its corpus: what is not in it is dropped, what follows is added."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from evalake_ingest.corpora.near_paths import mend_path
from evalake_ingest.corpora.rules import folded
from evalake_ingest.corpora.store import CorpusFile, StoredCorpus, load_symbols
from evalake_ingest.corpora.symbols import SuffixIndex, Symbol, by_length
from evalake_ingest.records import Drop, DropReason, GoldItem, Qrel, Task
from evalake_warehouse.project import Project
from evalake_warehouse.vocabulary import RELEVANT_ROLES

_SEPARATORS = re.compile(r"::|[#\\]")  # of C++, Rust, Ruby, PHP, and of documentation


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
    def left_out(self) -> dict[str, CorpusFile]:
        """What the source has and the corpus has not, by path; folders end in `/`."""
        return {folded(file.path): file for file in self.corpus.left_out}

    @cached_property
    def _spellings(self) -> dict[str, str | None]:
        """Paths by their composed form; None where two files share it."""
        found: dict[str, str | None] = {}
        for path in self.paths:
            found[folded(path)] = None if folded(path) in found else path
        return found

    def path_of(self, path: str) -> str:
        """A path as the corpus spells it, where that differs in composition of accents alone."""
        return path if path in self.paths else self._spellings.get(folded(path)) or path

    def why_left_out(self, path: str) -> CorpusFile | None:
        """The row of the file, or of a folder around it, that the corpus was stored without."""
        found = self.left_out.get(folded(path))
        parts = folded(path).split("/")
        folders = ("/".join(parts[:end]) + "/" for end in range(1, len(parts)))
        return found or next(
            (self.left_out[folder] for folder in folders if folder in self.left_out), None
        )

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
        """Every dotted suffix that names this definition."""
        return SuffixIndex(self.symbols)

    def find(self, name: str, path: str | None) -> Symbol | None:
        """The definition that a name means; None where there is none, or more than one.

        A name is qualified, the end of one, or a bare last part; in a known file it may also be
        the name inside the file.
        """
        for spelling in dict.fromkeys((name, _SEPARATORS.sub(".", name))):
            if path is None:
                if spelling in self.by_name:
                    return self.by_name[spelling]
                found = self.suffixes.named(spelling)
            else:
                found = self._in_file(spelling, path)
            if len({(symbol.path, symbol.symbol) for symbol in found}) == 1:
                return found[-1]
        return None

    def n_named(self, name: str, path: str | None) -> int:
        """How many definitions a name may mean."""
        dotted = _SEPARATORS.sub(".", name)
        found = self.suffixes.named(dotted) if path is None else self._in_file(dotted, path)
        return len({(symbol.path, symbol.symbol) for symbol in found})

    def _in_file(self, name: str, path: str) -> list[Symbol]:
        """Definitions of a file that a name may mean, the longest of one name last."""
        here = self.by_path.get(path, [])
        for symbol in reversed(here):
            if name in {symbol.symbol, *self.suffixes.names(symbol)}:
                return [symbol]
        return [symbol for symbol in here if symbol.symbol.rpartition(".")[2] == name]


@dataclass
class Completed:
    """A task with the gold that its corpus has, and the drops of gold that it lacks."""

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
        placed = tuple(_placed(_spelled(item, facts), facts))
        qrels = tuple(qrel for qrel in placed if _is_present(qrel, facts))
        if qrels:
            kept.append(replace(item, qrels=tuple(_with_aliases(qrels, facts))))
        else:
            drops.append(_gone(task, item, facts))
    had_gold = any(item.role in RELEVANT_ROLES for item in task.gold)
    if had_gold and not any(item.role in RELEVANT_ROLES for item in kept):
        return Completed(None, drops)
    # A row without gold of its own (judged, and nothing was relevant) is kept as it is.
    return Completed(replace(task, gold=(*kept, *_file_gold(kept))), drops)


def _spelled(item: GoldItem, facts: CorpusFacts) -> GoldItem:
    """The item with its paths as the corpus spells them."""
    if all(qrel.path is None or qrel.path in facts.paths for qrel in item.qrels):
        return item
    qrels = tuple(replace(qrel, path=qrel.path and facts.path_of(qrel.path)) for qrel in item.qrels)
    return replace(item, qrels=qrels)


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


def _gone(task: Task, item: GoldItem, facts: CorpusFacts) -> Drop:
    reason, told = _why_gone(item, facts)
    evidence = f"{item.level} gold {item.gold_id}"
    return Drop(
        source_row=task.source_row or task.task_id,
        reason=reason,
        task_id=task.task_id,
        evidence=f"{evidence}: {told}" if told else evidence,
    )


def _why_gone(item: GoldItem, facts: CorpusFacts) -> tuple[DropReason, str | None]:
    """Why no hit could match any qrel of a gold item: the reason and its evidence, for `drops`."""
    for path in dict.fromkeys(qrel.path for qrel in item.qrels if qrel.path):
        if (file := facts.why_left_out(path)) is not None:
            return "file_left_out", f"{file.path}: {file.status} ({file.detail})"
    for qrel in item.qrels:
        if qrel.relation == "symbol" and qrel.key and (qrel.path or "") in {"", *facts.paths}:
            n_named = facts.n_named(qrel.key, qrel.path)
            if n_named > 1:
                return "ambiguous_symbol", f"{n_named} definitions have this name"
    relations = {qrel.relation for qrel in item.qrels}
    if relations == {"fingerprint"}:
        return "fingerprint_not_in_corpus", None
    paths = (qrel.path for qrel in item.qrels if qrel.path and qrel.path not in facts.paths)
    meant = next((near for path in paths if (near := mend_path(path, facts.paths))), None)
    return "gold_not_in_corpus", f"would be {meant}" if meant else None
