"""Definitions of one file by its tree-sitter tree: names, lines, fingerprints.

The fingerprint rule, whose version is `TREE_RULE`: the nodes of a definition in source order, each
leaf with its text. Whitespace, comments, semicolons and the definition's own decorators and
annotations leave no trace. It is apart from Python's rule, and never equal to one of it.

A parser of untrusted text: call it in a process that may die (`relevance.tree_reader`).
"""

from __future__ import annotations

import hashlib
import importlib
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from evalake_warehouse.relevance.fingerprint import MAX_SOURCE_BYTES
from evalake_warehouse.relevance.grammars import GRAMMARS, Grammar
from evalake_warehouse.relevance.tree_names import read_name

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

TREE_RULE = "tree-1"

MAX_NODES = 1_000_000
MAX_NESTED = 40  # definitions inside one another

_HOLDERS = frozenset({"class", "interface", "struct", "trait", "enum", "union", "module",
                      "namespace"})  # fmt: skip
_DECORATORS = frozenset({"decorator", "annotation", "marker_annotation", "attribute_list"})
_BEFORE = frozenset({"decorator", "attribute_item"})  # siblings that belong to what follows
_WRAPPERS = frozenset({"export_statement", "template_declaration", "type_declaration",
                       "lexical_declaration", "variable_declaration", "expression_statement",
                       "decorated_definition"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class TreeDefinition:
    """One definition. Lines count from 1, both ends included; decorators belong to it."""

    symbol: str  # dotted, with what it lies in
    kind: str
    start_line: int
    end_line: int
    fingerprint: str
    parent: int | None  # index of the definition that it lies in

    @property
    def holds_definitions(self) -> bool:
        """Whether it is made of other definitions, as a class is."""
        return self.kind in _HOLDERS


@dataclass(frozen=True, slots=True)
class TreeRead:
    """Definitions of one file, or why there are none."""

    status: str  # ok | partly_parsed | too_large | too_deep | too_costly
    definitions: tuple[TreeDefinition, ...] = ()
    detail: str | None = None


@dataclass(slots=True)
class _Open:
    """A named node that the walk is inside of."""

    node: Node
    depth: int
    prefix: str  # of names inside it
    kind: str | None
    slot: int | None  # its place in the result
    first_token: int
    left_out: list[tuple[int, int]] = field(default_factory=list)  # tokens of its decorators


@dataclass(frozen=True, slots=True)
class _Kind:
    """How the walk treats a node, by the node's type."""

    token: bytes
    is_comment: bool
    may_name: bool
    is_decorator: bool


def read_tree(language: str, content: bytes) -> TreeRead:
    """Every named definition of a file in source order; never raises for what is in it."""
    if len(content) > MAX_SOURCE_BYTES:
        return TreeRead("too_large", detail=f"more than {MAX_SOURCE_BYTES} bytes")
    tree = _parser(language).parse(content)
    root = tree.root_node
    if root.descendant_count > MAX_NODES:
        return TreeRead("too_large", detail=f"more than {MAX_NODES} nodes")
    walk = _Walk(GRAMMARS[language], language, content)
    if not walk.run(root):
        return TreeRead("too_deep", detail=f"more than {MAX_NESTED} definitions in one another")
    found = tuple(one for one in walk.found if one is not None)
    if root.has_error:
        line = _first_error_line(root)
        where = f", the first at line {line}" if line else ""
        what = f"syntax the grammar does not know{where}; definitions around it are kept"
        return TreeRead("partly_parsed", found, what)
    return TreeRead("ok", found)


@cache
def _parser(language: str) -> Parser:
    from tree_sitter import Language, Parser

    grammar = GRAMMARS[language]
    binary = getattr(importlib.import_module(grammar.package), grammar.function)()
    return Parser(Language(binary))


class _Walk:
    """One pass over a tree: tokens as they come, definitions as their nodes end."""

    def __init__(self, grammar: Grammar, language: str, content: bytes) -> None:
        self._grammar = grammar
        self._language = language
        self._content = content
        self._tokens: list[bytes] = []
        self._open: list[_Open] = []
        self._file_prefix = ""
        self._kinds: dict[int, _Kind] = {}
        self.found: list[TreeDefinition | None] = []

    def run(self, root: Node) -> bool:
        """Whether the whole tree was walked: it was not nested too deep."""
        cursor, depth = root.walk(), 0
        begun: list[tuple[int, int]] = []  # definitions' own decorators around: depth, token
        while True:
            node = cursor.node
            if node is None:
                raise AssertionError("a cursor stands on a node")
            kind = self._kinds.get(node.kind_id) or self._learn(node)
            if not kind.is_comment:
                if kind.may_name:
                    self._name(node, depth)
                    if len(self._open) > MAX_NESTED:
                        return False
                if kind.is_decorator and self._is_own(node, depth):
                    begun.append((depth, len(self._tokens)))
                if cursor.goto_first_child():
                    self._tokens.append(kind.token)
                    depth += 1
                    continue
                self._leaf(node, kind)
                self._end(depth, begun)
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return True
                depth -= 1
                self._tokens.append(b")")
                self._end(depth, begun)

    def _learn(self, node: Node) -> _Kind:
        name = node.type
        kind = _Kind(
            token=b"(" + name.encode(),
            is_comment="comment" in name,
            may_name=name in self._grammar.definitions or name in self._grammar.scopes,
            is_decorator=name in _DECORATORS,
        )
        self._kinds[node.kind_id] = kind
        return kind

    def _leaf(self, node: Node, kind: _Kind) -> None:
        text = self._content[node.start_byte : node.end_byte]
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n")
        if text != b";" and not text.isspace() and text:
            self._tokens.append(b"%b:%d:%b" % (kind.token, len(text), text))

    def _name(self, node: Node, depth: int) -> None:
        named = read_name(node, self._grammar)
        if named is None:
            return
        if named.to_file_end:
            self._file_prefix = f"{named.name}."
            return
        above = self._open[-1] if self._open else None
        kind, slot = named.kind, None
        if kind is not None:
            if kind == "function" and above is not None and _makes_methods(above):
                kind = "method"
            slot = len(self.found)
            self.found.append(None)
        prefix = (above.prefix if above else self._file_prefix) + named.name
        self._open.append(_Open(node, depth, f"{prefix}.", kind, slot, len(self._tokens)))

    def _is_own(self, node: Node, depth: int) -> bool:
        """Whether a decorator is at the definition itself; one further in is part of its code."""
        if not self._open:
            return False
        above = depth - self._open[-1].depth
        is_modifier = node.parent is not None and node.parent.type == "modifiers"
        return above == 1 or (above == 2 and is_modifier)

    def _end(self, depth: int, begun: list[tuple[int, int]]) -> None:
        """Finish the definitions that began at a depth, after their last token."""
        if begun and begun[-1][0] == depth:
            _, token = begun.pop()
            self._open[-1].left_out.append((token, len(self._tokens)))
        if self._open and self._open[-1].depth == depth:
            last = self._open.pop()
            if last.slot is not None:
                self.found[last.slot] = self._finished(last)

    def _finished(self, done: _Open) -> TreeDefinition:
        digest = hashlib.sha256(f"{TREE_RULE} {self._language}".encode())
        tokens, start = [], done.first_token
        for begun, ended in done.left_out:
            tokens += self._tokens[start:begun]
            start = ended
        digest.update(b"\0".join([*tokens, *self._tokens[start:]]))
        first, last = _span(done.node)
        parents = [one.slot for one in self._open if one.slot is not None]
        return TreeDefinition(
            symbol=done.prefix.removesuffix("."),
            kind=done.kind or "",
            start_line=first,
            end_line=last,
            fingerprint=digest.hexdigest(),
            parent=parents[-1] if parents else None,
        )


def _makes_methods(above: _Open) -> bool:
    """Whether a function right inside is a method: of a type, an impl block or an object."""
    if above.kind is None:
        return "namespace" not in above.node.type
    return above.kind in _HOLDERS - {"module", "namespace"}


def _first_error_line(root: Node) -> int | None:
    """Where the first node stands that the grammar could not make sense of."""
    node = root
    while not (node.is_error or node.is_missing):
        inner = next((c for c in node.children if c.has_error or c.is_missing), None)
        if inner is None:
            return None
        node = inner
    return node.start_point.row + 1


def _span(node: Node) -> tuple[int, int]:
    """Lines of a definition, with what wraps it alone and the decorators before it."""
    outer = node
    while outer.parent is not None and outer.parent.type in _WRAPPERS:
        siblings = [c for c in outer.parent.named_children if c.type == node.type]
        if len(siblings) > 1:
            break
        outer = outer.parent
    first = outer.start_point.row
    before = outer.prev_named_sibling
    while before is not None and before.type in _BEFORE:
        first = before.start_point.row
        before = before.prev_named_sibling
    end = outer.end_point
    last = end.row if end.column or end.row == first else end.row - 1
    return first + 1, last + 1
