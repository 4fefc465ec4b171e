"""The source of a user's own system: its files and packages, found without running any of it.

Every module that the system's module imports is followed from `import` statement to `import`
statement, also inside functions, and through `import_module("name")`. A package counts with all of
its files: any of them may be read while it runs. What is installed counts by its version.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.machinery import ModuleSpec
from importlib.util import resolve_name
from pathlib import Path

from evalake_runners.adapters.files import INSTALLED, files_in, path_sha256
from evalake_warehouse.errors import UsageError

# The contract of a system, and the shipped systems, which have an `adapter_version`.
_EVALAKE = frozenset(
    {"evalake_cli", "evalake_reports", "evalake_runners", "evalake_ingest", "evalake_warehouse"}
)
_IMPORTERS = frozenset({"import_module", "__import__"})


@dataclass(frozen=True, slots=True)
class Source:
    """What identifies the code of a system."""

    files: Mapping[str, str]  # path below the folder that the module is imported from -> sha256
    packages: Mapping[str, str]  # installed packages that the files import -> version
    unread: tuple[str, ...]  # modules that are neither Python source nor installed


def read_source(
    module: str, declared: Iterable[str | Path] = (), *, leave_out: Path | None = None
) -> Source:
    """The source of a module and of all it imports.

    Args:
        declared: further files and folders that the system names, relative to the module's folder.
        leave_out: a folder that is no source wherever it lies, such as the home of the lake.

    Raises:
        UsageError: a declared file does not exist.
    """
    importlib.invalidate_caches()  # a file may be younger than what the import system has seen
    walk = _Walk(module, leave_out)
    walk.follow()
    named = dict(walk.named(declared))
    known = {path.resolve() for path in named.values()}
    unread = {name for name, path in walk.unread.items() if path not in known}
    hashes = {}
    for name, path in sorted((walk.files | named).items()):
        try:
            hashes[name] = path_sha256(path)
        except UsageError:
            unread.add(name)
    return Source(hashes, dict(sorted(walk.packages.items())), tuple(sorted(unread)))


class _Walk:
    """One walk along the imports of a module."""

    def __init__(self, module: str, leave_out: Path | None) -> None:
        self.files: dict[str, Path] = {}
        self.packages: dict[str, str] = {}
        self.unread: dict[str, Path | None] = {}
        self._module = module
        self._leave_out = leave_out and leave_out.resolve()
        self._seen: set[str] = set()
        self._folder = Path.cwd()  # of the module
        self._root = self._folder  # that it is imported from

    def follow(self) -> None:
        """Visit the module and all that it imports, each once."""
        if self._module not in {spec.name for spec in _find(self._module)}:
            self.unread[self._module] = None
        queue = [self._module]
        while queue:
            for spec in _find(queue.pop()):
                if spec.name not in self._seen:
                    self._seen.add(spec.name)
                    queue += self._visit(spec)

    def named(self, declared: Iterable[str | Path]) -> Iterator[tuple[str, Path]]:
        """Declared files by their path below the root, or by name where they lie elsewhere."""
        for item in declared:
            path = self._folder / item
            if not path.exists():
                what = f"`source_files`: no such file or folder; looked in {self._folder}"
                raise UsageError(what, where=str(item))
            for file in files_in(path):
                is_below = not Path(item).is_absolute() or file.is_relative_to(self._root)
                name = os.path.relpath(file, self._root) if is_below else file.name
                yield Path(name).as_posix(), file

    def _visit(self, spec: ModuleSpec) -> Sequence[str]:
        """Note one module; returns what it imports."""
        top = spec.name.partition(".")[0]
        if top in _EVALAKE or spec.origin in (None, "built-in", "frozen"):
            return ()  # a namespace package has no origin and no code
        origin = Path(str(spec.origin))
        if _is_stdlib(origin):
            return ()
        if top != self._module.partition(".")[0] and INSTALLED & set(origin.parts):
            self.packages |= _versions(top)
            if _versions(top):
                return ()
        if origin.suffix != ".py" or not origin.is_file():
            self.unread[spec.name] = origin.resolve()
            return ()
        name = spec.name.replace(".", "/")
        is_package = spec.submodule_search_locations is not None
        if spec.name == self._module:
            self._folder = origin.parent
            depth = spec.name.count(".") + is_package
            self._root = origin.parents[depth]
        if not is_package:
            self.files.setdefault(f"{name}.py", origin)
        elif f"{name}/{origin.name}" not in self.files:  # else a package above it has it already
            self._add_package(name, origin.parent)
        return _imports(origin, spec.name if is_package else spec.parent or "")

    def _add_package(self, name: str, folder: Path) -> None:
        for file in files_in(folder, is_code=True):
            if self._leave_out is None or self._leave_out not in file.resolve().parents:
                self.files[f"{name}/{file.relative_to(folder).as_posix()}"] = file


def _find(name: str) -> list[ModuleSpec]:
    """The modules on the way to a dotted name, as far as there are any; imports none of them."""
    specs: list[ModuleSpec] = []
    places: list[str] | None = None
    parts = name.split(".")
    for number, part in enumerate(parts, start=1):
        spec = _find_in(".".join(parts[:number]), places)
        if spec is None:
            break
        specs.append(spec)
        if spec.submodule_search_locations is None:
            break
        if spec.origin is None:
            # Not the list of the spec: it asks the package above, which may not be imported.
            above = sys.path if places is None else places
            places = [str(at) for entry in above if (at := Path(entry, part)).is_dir()]
        else:
            places = list(spec.submodule_search_locations)
    return specs


def _find_in(name: str, places: list[str] | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        find_spec = getattr(finder, "find_spec", None)
        spec: ModuleSpec | None = find_spec(name, places, None) if find_spec else None
        if spec is not None:
            return spec
    return None


def _imports(file: Path, package: str) -> list[str]:
    """Absolute names that a file imports; each may be a module or something in one."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # it cannot be imported either
    names: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                names += [alias.name for alias in node.names]
            case ast.ImportFrom():
                module = _absolute("." * node.level + (node.module or ""), package)
                names += [module, *(f"{module}.{alias.name}" for alias in node.names)]
            case ast.Call(
                func=ast.Name(id=called) | ast.Attribute(attr=called),
                args=[ast.Constant(value=str(name)), *_],
            ) if called in _IMPORTERS:
                names.append(_absolute(name, package))
    return [name for name in names if name]


def _absolute(name: str, package: str) -> str:
    try:
        return resolve_name(name, package) if name.startswith(".") else name
    except ImportError:  # above the top of its package
        return ""


def _is_stdlib(origin: Path) -> bool:
    if INSTALLED & set(origin.parts):
        return False
    roots = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    return any(origin.resolve().is_relative_to(Path(root).resolve()) for root in roots)


@cache
def _versions(top: str) -> dict[str, str]:
    """Versions of the installed packages that a top-level module is from."""
    try:
        return {top: metadata.version(top)}
    except metadata.PackageNotFoundError:
        return {name: metadata.version(name) for name in _distributions().get(top, ())}


@cache
def _distributions() -> Mapping[str, Sequence[str]]:
    return metadata.packages_distributions()
