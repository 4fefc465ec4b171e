"""Definitions of a corpus's files, whatever their language: names, lines, fingerprints."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from types import TracebackType

from evalake_ingest.corpora.symbols import (
    ReadSymbols,
    Symbol,
    module_name,
    package_dirs,
    qualify,
    read_symbols,
)
from evalake_warehouse.relevance.fingerprint import FINGERPRINT_RULE
from evalake_warehouse.relevance.grammars import PYTHON, grammar_of, has_definitions, language_of
from evalake_warehouse.relevance.tree_definitions import TREE_RULE
from evalake_warehouse.relevance.tree_reader import TreeReader

DEFINITION_RULES = f"{FINGERPRINT_RULE}+{TREE_RULE}"


def rule_of(path: str) -> str:
    """The rule version that a file's definitions are read and fingerprinted by."""
    return FINGERPRINT_RULE if language_of(path) == PYTHON else TREE_RULE


class DefinitionReader:
    """Reads the files of one corpus; other languages than Python in a process of their own."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._packages = package_dirs(paths)
        self._stack = ExitStack()
        self._trees = TreeReader()

    def __enter__(self) -> DefinitionReader:
        self._stack.enter_context(self._trees)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def reads(self, path: str) -> bool:
        """Whether definitions of a file's language are read."""
        return has_definitions(language_of(path))

    def read(self, path: str, content: bytes) -> ReadSymbols:
        """Every definition of one file in source order, or why there are none; never raises."""
        module = module_name(path, self._packages)
        grammar = grammar_of(path, content)
        if grammar is None:
            return read_symbols(path, content, module=module)
        read = self._trees.read(grammar, content)
        symbols = tuple(
            Symbol(
                path=path,
                qualified_name=qualify(module, path, found.symbol),
                symbol=found.symbol,
                kind=found.kind,
                start_line=found.start_line,
                end_line=found.end_line,
                fingerprint=found.fingerprint,
            )
            for found in read.definitions
        )
        return ReadSymbols(read.status, symbols, read.detail)
