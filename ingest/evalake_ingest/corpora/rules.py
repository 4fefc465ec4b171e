"""Which files of an untrusted tree are corpus, and the reason for each that is not.

`TEXT` is the rule for a user's own folder: every text file. `SUFFIXES` is the rule that the
benchmarks over repositories are pinned to: their corpora must stay what they were.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalake_ingest.corpora.paths import MAX_FILE_BYTES
from evalake_ingest.records import SkipStatus
from evalake_warehouse.errors import UsageError

if TYPE_CHECKING:
    from pathspec import PathSpec

MAX_TEXT_BYTES = 2_000_000  # of a user's own files: what is larger is data, and no tool reads it

_HISTORY = frozenset({".git", ".hg", ".svn", ".bzr", ".jj", "CVS"})
_INSTALLED = frozenset({
    "node_modules", "bower_components", "jspm_packages", "site-packages", ".venv", ".tox", ".nox",
    ".eggs", ".bundle", ".gradle", ".terraform", "__pypackages__",
})  # fmt: skip
_CACHES = frozenset({
    "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".parcel-cache",
    ".turbo", ".next", ".nuxt", ".svelte-kit", ".ipynb_checkpoints", ".evalake",
})  # fmt: skip
_JS = frozenset({"package.json"})
_PYTHON = frozenset({"pyproject.toml", "setup.py", "setup.cfg"})
_NATIVE = frozenset({"CMakeLists.txt", "meson.build"})
_GRADLE = frozenset({"build.gradle", "build.gradle.kts"})
# What a build writes, by the project file that it stands beside; a package of that name is kept.
_BUILT = {
    "dist": _JS | _PYTHON, "build": _JS | _PYTHON | _NATIVE | _GRADLE, "out": _JS | _GRADLE,
    "target": frozenset({"Cargo.toml", "pom.xml", "build.sbt"}), "coverage": _JS,
    "htmlcov": _PYTHON,
}  # fmt: skip
# Dependencies that were copied in, by a file that the tool leaves among them or beside them.
_COPIED = {"modules.txt", "autoload.php"}

_GENERATED = (
    "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
    "deno.lock", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "Cargo.lock", "go.sum",
    "composer.lock", "Gemfile.lock", "Podfile.lock", "mix.lock", "pubspec.lock", "flake.lock",
    "packages.lock.json", "gradle.lockfile", "*.min.js", "*.min.css", "*.js.map", "*.css.map",
)  # fmt: skip

_MAGIC = {
    b"%PDF-": "PDF", b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"BZh": "bzip2",
    b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"\x89PNG": "PNG", b"GIF8": "GIF",
    b"\xff\xd8\xff": "JPEG", b"\x7fELF": "ELF",
}  # fmt: skip
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LOOKED_AT = 65_536
_CONTROLS = bytes(n for n in range(32) if n not in b"\t\n\r\f\b\x1b")
_MAX_CONTROLS = 0.02  # of random bytes a tenth are

Reason = tuple[SkipStatus, str]


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder, as patterns for folders see it."""

    path: str  # relative, POSIX
    names: frozenset[str]  # of what it holds
    beside: frozenset[str]  # of what its parent holds, itself included

    @property
    def name(self) -> str:
        """Its own name."""
        return posixpath.basename(self.path)


@dataclass(frozen=True, slots=True)
class CorpusRule:
    """Decides on files by folder, name, size and content, in that order."""

    name: str  # with its version
    folder: Callable[[Folder], Reason | None]
    suffixes: tuple[str, ...] | None = None  # None: every text file, whatever it is called
    max_bytes: int = MAX_FILE_BYTES
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def narrowed(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> CorpusRule:
        """This rule with the user's globs. `include` stands in place of a list of suffixes.

        Raises:
            UsageError: a glob that says nothing.
        """
        for flag, patterns in (("--include", include), ("--exclude", exclude)):
            for pattern in patterns:
                if not pattern.strip("/! ") or pattern.startswith("#"):
                    raise UsageError(f"`{pattern}` matches no file", where=flag)
        base = TEXT if include and self.suffixes is not None else self
        return replace(base, include=tuple(include), exclude=tuple(exclude))

    @property
    def words(self) -> str:
        """The rule for people, as the lake keeps it."""
        suffixes = " ".join(self.suffixes) if self.suffixes is not None else ""
        globs = [f"--include {glob}" for glob in self.include]
        globs += [f"--exclude {glob}" for glob in self.exclude]
        return "; ".join(filter(None, [self.name, suffixes, *globs]))

    def skip_folder(self, folder: Folder) -> Reason | None:
        """Why nothing in a folder is corpus; None where its files decide."""
        if any(folder.name in pattern.split("/") for pattern in self.include):
            return None  # a glob that names a folder opens it
        if (glob := _matching(self.exclude, f"{folder.path}/")) is not None:
            return "skipped_excluded", f"--exclude {glob}"
        return self.folder(folder)

    def skip_name(self, path: str) -> Reason | None:
        """Why a file is not corpus, as far as its path says."""
        if (glob := _matching(self.exclude, path)) is not None:
            return "skipped_excluded", f"--exclude {glob}"
        if self.include and _matching(self.include, path) is None:
            return "skipped_not_included", "matches no --include"
        if self.suffixes is not None:
            if posixpath.splitext(path)[1] in self.suffixes:
                return None
            return "skipped_suffix", f"{self.name} reads {' '.join(self.suffixes)}"
        return self._skip_generated(posixpath.basename(path))

    def _skip_generated(self, name: str) -> Reason | None:
        if name in _HISTORY:
            return "skipped_vendored", "version control"
        generated = _matching(_GENERATED, name)
        if generated is None or any(p.split("/")[-1] in {name, generated} for p in self.include):
            return None
        return "skipped_generated", f"written by a tool: {generated}"

    def skip_size(self, n_bytes: int) -> Reason | None:
        """Why a file is not corpus for its size."""
        if n_bytes <= self.max_bytes:
            return None
        return "skipped_size", f"{n_bytes} bytes, more than {self.max_bytes}"

    def skip_content(self, content: bytes) -> Reason | None:
        """Why a file's content is no corpus; None where it is, or the rule lists suffixes."""
        return None if self.suffixes is not None else _not_text(content)


def _not_text(content: bytes) -> Reason | None:
    if content.startswith(_UTF16):
        return "skipped_encoding", "UTF-16; what is read is UTF-8"
    for magic, what in _MAGIC.items():
        if content.startswith(magic):
            return "skipped_binary", what
    if (at := content.find(b"\0")) >= 0:
        return "skipped_binary", f"a NUL byte at {at}"
    head = content[:_LOOKED_AT]
    n_controls = len(head) - len(head.translate(None, _CONTROLS))
    if n_controls > _MAX_CONTROLS * len(head):
        return "skipped_binary", f"{n_controls} control characters in {len(head)} bytes"
    return None


def _matching(patterns: Sequence[str], path: str) -> str | None:
    """The pattern that decides on a path; of several, as in `.gitignore`, the last that matches."""
    if not patterns:
        return None
    path = unicodedata.normalize("NFC", path)
    found = None
    for pattern in patterns:
        if _compiled(pattern.removeprefix("!")).match_file(path):
            found = None if pattern.startswith("!") else pattern
    return found


_SPECS: dict[str, PathSpec] = {}


def _compiled(pattern: str) -> PathSpec:
    if pattern not in _SPECS:
        from pathspec import PathSpec

        normal = unicodedata.normalize("NFC", pattern)
        _SPECS[pattern] = PathSpec.from_lines("gitwildmatch", [normal])
    return _SPECS[pattern]


def _foreign_folder(folder: Folder) -> Reason | None:
    """Version control, installed packages, caches, and what a build wrote."""
    name = folder.name
    if name in _HISTORY:
        return "skipped_vendored", "version control"
    if name in _INSTALLED or "pyvenv.cfg" in folder.names or name.endswith(_METADATA):
        return "skipped_vendored", "installed packages"
    if name == "vendor" and (folder.names & _COPIED or "composer.json" in folder.beside):
        return "skipped_vendored", "copied dependencies"
    if name in _CACHES or "CACHEDIR.TAG" in folder.names:
        return "skipped_vendored", "cache"
    beside = _BUILT.get(name, frozenset()) & folder.beside
    if beside and "__init__.py" not in folder.names:
        return "skipped_vendored", f"build output beside {min(beside)}"
    return None


_METADATA = (".egg-info", ".dist-info")
_PINNED_FOLDERS = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules", ".tox", ".venv"})


def _pinned_folder(folder: Folder) -> Reason | None:
    if folder.name in _PINNED_FOLDERS:
        return "skipped_vendored", f"a folder named {folder.name}"
    return None


def _wheel_folder(folder: Folder) -> Reason | None:
    if "/" not in folder.path and folder.name.endswith((".dist-info", ".data")):
        return "skipped_vendored", "the wheel's own records"
    return None


TEXT = CorpusRule("text-1", _foreign_folder, max_bytes=MAX_TEXT_BYTES)
SUFFIXES = CorpusRule(
    "suffixes-1", _pinned_folder, suffixes=(".cfg", ".md", ".py", ".rst", ".toml", ".txt")
)
WHEEL_MODULES = CorpusRule("modules-1", _wheel_folder, suffixes=(".py",))


def folded(path: str) -> str:
    """The path in composed Unicode (NFC), equal for two spellings of one name."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)
