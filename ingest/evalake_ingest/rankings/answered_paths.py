"""Which answered paths are files of their task's corpus, and what the others would have to be."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from evalake_ingest.corpora.near_paths import mend_path
from evalake_ingest.corpora.paths import clean_path
from evalake_ingest.corpora.rules import folded
from evalake_ingest.corpora.store import open_corpus
from evalake_warehouse.errors import UsageError
from evalake_warehouse.project import Project

_MAX_EXAMPLES = 2


@dataclass
class _Known:
    """Paths of one corpus; empty where the corpus is not on this machine."""

    paths: frozenset[str]

    @cached_property
    def _composed(self) -> dict[str, set[str]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for path in self.paths:
            found[folded(path)].add(path)
        return found

    def spelled(self, path: str) -> str | None:
        """The file as the corpus spells it: accents may be composed or not."""
        if not self.paths or path in self.paths:
            return path
        alike = self._composed.get(folded(path), set())
        return next(iter(alike)) if len(alike) == 1 else None


@dataclass
class AnsweredPaths:
    """Answered paths of one run, checked against the corpora, and counted."""

    project: Project
    n_paths: int = 0
    n_unresolved: int = 0
    examples: dict[str, str | None] = field(default_factory=dict)  # as answered -> mended
    _known: dict[str, _Known] = field(default_factory=dict)  # by corpus id

    def resolve(self, corpus_id: str, raw: str | None) -> dict[str, Any]:
        """Columns `path` and `path_status` of a hit; a corpus not at hand is taken at its word."""
        if raw is None:
            return {"path": None, "path_status": None}
        if corpus_id not in self._known:
            self._known[corpus_id] = _Known(frozenset(_paths(self.project, corpus_id)))
        known = self._known[corpus_id]
        self.n_paths += 1
        path = clean_path(raw)
        if path is not None and (found := known.spelled(path)) is not None:
            return {"path": found, "path_status": "resolved"}
        self.n_unresolved += 1
        if len(self.examples) < _MAX_EXAMPLES and raw not in self.examples:
            self.examples[raw] = mend_path(raw, known.paths)
        return {"path": None, "path_status": "unresolved"}

    def note(self) -> str | None:
        """How many are no file of the corpus, with examples; None where all are."""
        if not self.n_unresolved:
            return None
        told = ", ".join(
            f"{raw} (would be {mended})" if mended else f"{raw} (like none of them)"
            for raw, mended in self.examples.items()
        )
        return (
            f"{self.n_unresolved} of {self.n_paths} answered paths are no file of the corpus and "
            f"find nothing: {told}"
        )


def _paths(project: Project, corpus_id: str) -> tuple[str, ...]:
    try:
        return open_corpus(project, corpus_id).paths
    except UsageError:
        return ()
