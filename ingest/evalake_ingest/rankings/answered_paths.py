"""Which answered paths are files of their task's corpus, and what the others would have to be."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from evalake_ingest.corpora.paths import clean_path
from evalake_ingest.corpora.store import open_corpus
from evalake_warehouse.errors import UsageError
from evalake_warehouse.project import Project

_DRIVE = re.compile(r"^/?[A-Za-z]:(?=/)")
_LINES = re.compile(r"(:\d+([-:]\d+)*|#L?\d+(-L?\d+)?)$")
_MAX_EXAMPLES = 2


@dataclass
class AnsweredPaths:
    """Answered paths of one run, checked against the corpora, and counted."""

    project: Project
    n_paths: int = 0
    n_unresolved: int = 0
    examples: dict[str, str | None] = field(default_factory=dict)  # as answered -> mended
    _known: dict[str, frozenset[str]] = field(default_factory=dict)

    def resolve(self, corpus_id: str, raw: str | None) -> dict[str, Any]:
        """Columns `path` and `path_status` of a hit; a corpus not at hand is taken at its word."""
        if raw is None:
            return {"path": None, "path_status": None}
        if corpus_id not in self._known:
            self._known[corpus_id] = frozenset(_paths(self.project, corpus_id))
        known = self._known[corpus_id]
        self.n_paths += 1
        path = clean_path(raw)
        if path is not None and path in (known or {path}):
            return {"path": path, "path_status": "resolved"}
        self.n_unresolved += 1
        if len(self.examples) < _MAX_EXAMPLES and raw not in self.examples:
            self.examples[raw] = mend_path(raw, known)
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


def mend_path(raw: str, known: frozenset[str]) -> str | None:
    """The file of a corpus that a path probably means; None where none or several come near.

    Tried: file:// URIs, backslashes, drive letters, line numbers at the end, composed accents,
    then leading folders too many (absolute paths, `a/` and `b/` of git) and too few.
    """
    path = unquote(raw.removeprefix("file://localhost").removeprefix("file://"))
    if not raw.startswith("file://"):
        path = raw
    path = _DRIVE.sub("", path.replace("\\", "/"))
    for told in (path, _LINES.sub("", path)):
        parts = [
            part
            for part in unicodedata.normalize("NFC", told).split("/")
            if part not in {"", ".", ".."}
        ]
        for start in range(len(parts)):
            if (found := "/".join(parts[start:])) in known:
                return found
        longer = [name for name in known if parts and name.endswith("/" + "/".join(parts))]
        if len(longer) == 1:
            return longer[0]
    return None


def _paths(project: Project, corpus_id: str) -> tuple[str, ...]:
    try:
        return open_corpus(project, corpus_id).paths
    except UsageError:
        return ()
