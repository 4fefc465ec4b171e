"""Definitions of a Python file, and the names that definitions of any language go by."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from evalake_warehouse.relevance.fingerprint import (
    Definition,
    fingerprint_node,
    parse_source,
)
from evalake_warehouse.relevance.grammars import GRAMMARS, language_of

# Source roots that are not part of an import name, where no `__init__.py` says otherwise.
_SOURCE_ROOTS = ("src", "lib", "python")
_JVM = ("java", "kotlin", "scala", "groovy")  # src/main/java, src/test/java
_PYTHON_SUFFIXES = (".py", ".pyi")
# Files that give their folder's definitions no name of their own.
_FOLDER_FILES = ("index", "mod")


@dataclass(frozen=True, slots=True)
class Symbol:
    """One function, method or class. Lines count from 1; decorators belong to it."""

    path: str
    qualified_name: str  # import name and in-module name: black.trans.StringMerger.do_match
    symbol: str  # in-module: StringMerger.do_match; a nested function is outer.inner
    kind: str  # function | method | class; of other languages also interface, struct, ...
    start_line: int
    end_line: int
    fingerprint: str

    @property
    def n_lines(self) -> int:
        """Lines from the first decorator to the end."""
        return self.end_line - self.start_line + 1


@dataclass(frozen=True, slots=True)
class ReadSymbols:
    """Symbols of one file, or why there are none."""

    status: str  # ok | unparsable | partly_parsed | too_large | too_deep | undecodable | too_costly
    symbols: tuple[Symbol, ...] = ()
    detail: str | None = None


def read_symbols(path: str, content: bytes, *, module: str) -> ReadSymbols:
    """Every definition of one Python file, nested ones included, in source order; never raises."""
    try:
        source = decode_source(content)
    except (UnicodeDecodeError, LookupError, SyntaxError) as error:
        return ReadSymbols("undecodable", detail=str(error))
    parsed = parse_source(source)
    if parsed.tree is None:
        return ReadSymbols(parsed.status, detail=parsed.detail)
    symbols = tuple(
        Symbol(
            path=path,
            qualified_name=f"{module}.{name}" if module else name,
            symbol=name,
            kind=kind,
            start_line=min([node.lineno, *(line.lineno for line in node.decorator_list)]),
            end_line=node.end_lineno or node.lineno,
            fingerprint=fingerprint_node(node),
        )
        for node, name, kind in _definitions(parsed.tree)
    )
    return ReadSymbols("ok", symbols)


def decode_source(content: bytes) -> str:
    """Python source as text, by its byte order mark and coding line."""
    import io
    import tokenize

    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    return content.decode(encoding)


def module_name(path: str, package_dirs: Collection[str]) -> str:
    """Import name of a file: from the outermost folder of its package, or of its whole path.

    Args:
        package_dirs: folders (corpus-relative, POSIX) that hold an `__init__.py`.
    """
    pure = PurePosixPath(path)
    parts = pure.parent.parts
    if pure.suffix not in _PYTHON_SUFFIXES:
        return _file_module(parts, pure.stem)
    start = len(parts)
    while start and "/".join(parts[:start]) in package_dirs:
        start -= 1
    if start == len(parts):  # no package: the whole path, less a source root
        start = 1 if parts and parts[0] in _SOURCE_ROOTS else 0
    names = [*parts[start:], *([] if pure.stem == "__init__" else [pure.stem])]
    return ".".join(names) or pure.stem


def _file_module(folders: tuple[str, ...], stem: str) -> str:
    """The path with dots, less a source root such as `src` or `src/main/java`."""
    start = 0
    if len(folders) > 2 and folders[0] == "src" and folders[2] in _JVM:
        start = 3
    elif folders and folders[0] in _SOURCE_ROOTS:
        start = 1
    return ".".join([*folders[start:], *([] if stem in _FOLDER_FILES else [stem])]) or stem


def qualify(module: str, path: str, symbol: str) -> str:
    """The qualified name of a definition that is no Python.

    Java: a class is called by its package, not by the file that has its name.
    """
    stem = PurePosixPath(path).stem
    if path.endswith(".java") and symbol.partition(".")[0] == stem:
        package = module.rpartition(".")[0]
        return f"{package}.{symbol}" if package else symbol
    return f"{module}.{symbol}"


def package_dirs(paths: Iterable[str]) -> frozenset[str]:
    """Folders with an `__init__.py`; the corpus root itself is never one."""
    return frozenset(path.rpartition("/")[0] for path in paths if path.endswith("/__init__.py"))


class SuffixIndex:
    """Which names mean exactly one definition of a corpus.

    Systems name a definition from the root, from the package or from its module. Every dotted
    suffix of the full path name with at least two parts is accepted as long as no other
    definition ends in it. For gold, which is read by people, the last part alone does as well.
    """

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        owners: defaultdict[str, dict[tuple[str, str], Symbol]] = defaultdict(dict)
        for symbol in symbols:
            names = [*_suffixes(symbol.path, symbol.symbol), symbol.symbol.rpartition(".")[2]]
            for name in {*names, symbol.qualified_name}:
                # Of several of one name in a file, the longest is the body.
                known = owners[name].setdefault((symbol.path, symbol.symbol), symbol)
                if symbol.n_lines >= known.n_lines:
                    owners[name][symbol.path, symbol.symbol] = symbol
        self._owners = owners

    def names(self, symbol: Symbol) -> list[str]:
        """The qualified name first, then the other names that mean this definition alone."""
        owner = (symbol.path, symbol.symbol)
        others = [
            name
            for name in _suffixes(symbol.path, symbol.symbol)
            if self._owners[name].keys() == {owner} and name != symbol.qualified_name
        ]
        return [symbol.qualified_name, *others]

    def named(self, name: str) -> list[Symbol]:
        """Every definition that a name may mean."""
        return list(self._owners.get(name, {}).values())


@lru_cache(maxsize=4096)
def _path_parts(path: str) -> tuple[str, ...]:
    return (*PurePosixPath(path).parent.parts, PurePosixPath(path).stem)


def _suffixes(path: str, symbol: str) -> list[str]:
    parts = _path_parts(path)
    spellings = [parts]
    if parts[-1] == "__init__" or not _is_scope(path, parts[-1]):
        spellings.append(parts[:-1])  # `pkg.f` as it is used, `pkg.__init__.f` as it is stored
    names: dict[str, None] = {}
    for spelling in spellings:
        whole = [*spelling, *symbol.split(".")]
        for start in range(len(whole) - 1):
            names[".".join(whole[start:])] = None
    return list(names)


def _is_scope(path: str, stem: str) -> bool:
    """Whether a file's name is part of the names in it, as in Python and TypeScript."""
    if stem in _FOLDER_FILES and not path.endswith(_PYTHON_SUFFIXES):
        return False
    grammar = GRAMMARS.get(language_of(path) or "")
    return grammar is None or grammar.file_is_scope


def _definitions(tree: ast.Module) -> Iterator[tuple[Definition, str, str]]:
    """(node, in-module name, kind) in source order, without recursion."""
    stack: list[tuple[ast.AST, str, bool]] = [(node, "", False) for node in reversed(tree.body)]
    while stack:
        node, prefix, in_class = stack.pop()
        inner, inner_in_class = prefix, in_class
        if isinstance(node, Definition):
            name = prefix + node.name
            is_class = isinstance(node, ast.ClassDef)
            yield node, name, "class" if is_class else "method" if in_class else "function"
            inner, inner_in_class = f"{name}.", is_class
        elif isinstance(node, ast.expr):
            continue  # an expression holds no definition
        stack += [
            (child, inner, inner_in_class)
            for child in reversed(list(ast.iter_child_nodes(node)))
            if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case)
        ]


def by_length(symbols: list[Symbol]) -> list[Symbol]:
    """Definitions by length, shortest first: the last of several overloads has the body."""
    return sorted(symbols, key=lambda symbol: symbol.n_lines)
