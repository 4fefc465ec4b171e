"""Fingerprints of Python definitions: equal for equal code, on every supported Python.

The rule, whose version is `FINGERPRINT_RULE`: our own walk over the syntax tree, hashed.

- Whitespace, comments, line breaks, redundant parentheses and quote styles leave no trace.
- The definition's own decorators are left out; those of definitions inside it count.
- A docstring counts, with every run of whitespace read as one space, because moving a function
  re-indents it. The same holds for any other string of more than one line.
- Empty fields are left out, so a field that a newer Python adds changes nothing until used.
- Contexts (load, store), positions, type comments and the `u` prefix are left out.
"""

from __future__ import annotations

import ast
import hashlib
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeGuard

FINGERPRINT_RULE = "ast-1"

MAX_SOURCE_BYTES = 1_000_000  # a tree takes some hundred bytes for each byte of dense source

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Status = Literal["ok", "unparsable", "not_a_definition", "too_large", "too_deep"]

_IGNORED_FIELDS = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
_WHITESPACE = re.compile(r"\s+")
_INDENTED = re.compile(r"\A(?:\s*\n)?[ \t]+\S")
_FENCE = re.compile(r"\A\s*```[^\n]*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fingerprinted:
    """The outcome for one text; `fingerprint` is set exactly where `status` is `ok`."""

    status: Status
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """The outcome of parsing one source; `tree` is set exactly where `status` is `ok`."""

    status: Status
    tree: ast.Module | None = None
    detail: str | None = None


def parse_source(source: str) -> Parsed:
    """Parse untrusted source within limits; never raises."""
    if len(source) > MAX_SOURCE_BYTES or len(source.encode("utf-8", "replace")) > MAX_SOURCE_BYTES:
        return Parsed("too_large", detail=f"more than {MAX_SOURCE_BYTES} bytes")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes are the corpus's own business
            return Parsed("ok", ast.parse(source))
    except (RecursionError, MemoryError) as error:
        return Parsed("too_deep", detail=type(error).__name__)
    except (SyntaxError, ValueError) as error:  # ValueError: null bytes, numbers of 4,300 digits
        line = getattr(error, "lineno", None)
        what = getattr(error, "msg", None) or str(error)
        return Parsed("unparsable", detail=f"line {line}: {what}" if line else what)


def fingerprint_node(definition: Definition) -> str:
    """Fingerprint of one function, method or class."""
    told = "".join(map(_with_length, _tokens(definition)))
    digest = hashlib.sha256(FINGERPRINT_RULE.encode())
    digest.update(told.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def fingerprint_text(text: str) -> Fingerprinted:
    """Fingerprint of a loose text that holds one definition and nothing else beside imports.

    The text may be indented as a whole, start at its first line's column, carry decorators,
    or stand in a Markdown fence. A text cut off in the middle is `unparsable`: it is not the
    same code, and is left to the `lines` and `text` relations.
    """
    if fenced := _FENCE.match(text):
        text = fenced.group(1)
    parsed = parse_source(text)
    if parsed.status == "unparsable" and _INDENTED.match(text):
        # Wrapped, not dedented: a string of several lines keeps its content.
        parsed = parse_source("if 1:\n" + text)
    if parsed.tree is None:
        return Fingerprinted(parsed.status)
    body = parsed.tree.body
    if len(body) == 1 and isinstance(body[0], ast.If):
        body = body[0].body
    statements = [node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]
    if len(statements) != 1 or not isinstance(statements[0], Definition):
        return Fingerprinted("not_a_definition")
    return Fingerprinted("ok", fingerprint_node(statements[0]))


def fingerprint_source(text: str) -> str | None:
    """`fingerprint_text`, where only the fingerprint matters."""
    return fingerprint_text(text).fingerprint


def _with_length(token: str) -> str:
    """The token after its length in bytes, so that no two lists of tokens read the same."""
    n_bytes = len(token) if token.isascii() else len(token.encode("utf-8", "surrogatepass"))
    return f"{n_bytes}:{token}"


def _tokens(definition: Definition) -> Iterator[str]:
    """The canonical walk, without recursion: depth is bounded by memory, not by the stack."""
    stack: list[object] = [definition]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, ast.Constant):
            yield _constant(item.value)
        elif isinstance(item, ast.AST):
            opening, fields = _shape(type(item).__name__, item._fields)
            yield opening
            stack.append(")")
            for name, label in fields:
                value = getattr(item, name, None)
                if value is None or (name == "decorator_list" and item is definition):
                    continue
                parts = _merged(value) if _is_fstring(item) else value
                if _is_empty(name, parts):
                    continue
                stack.append(parts)
                stack.append(label)
        elif isinstance(item, list):
            yield "["
            stack.append("]")
            stack.extend(reversed(item))
        else:  # identifiers are handled above; what is left are None in a list and int flags
            yield repr(item)


@cache
def _shape(kind: str, fields: tuple[str, ...]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The opening token of a node of this kind, and its labelled fields in reverse order."""
    counted = [name for name in fields if name not in _IGNORED_FIELDS]
    return f"({kind}", tuple((name, f".{name}") for name in reversed(counted))


def _is_empty(name: str, value: object) -> bool:
    if isinstance(value, list):
        return not value
    # `f"{x:}"` carries an empty format on some versions and none on others.
    return name == "format_spec" and _is_fstring(value) and not _merged(value.values)


def _is_fstring(node: object) -> TypeGuard[ast.JoinedStr]:
    return isinstance(node, ast.JoinedStr)


def _merged(values: list[ast.expr]) -> list[ast.expr]:
    """Parts of an f-string, with neighbouring constants as one: versions split them differently."""
    merged: list[ast.expr] = []
    for value in values:
        last = merged[-1] if merged else None
        if isinstance(value, ast.Constant) and isinstance(last, ast.Constant):
            merged[-1] = ast.Constant(value=str(last.value) + str(value.value))
        elif not (isinstance(value, ast.Constant) and value.value == ""):
            merged.append(value)
    return merged


def _constant(value: object) -> str:
    if isinstance(value, str):
        text = _WHITESPACE.sub(" ", value).strip() if "\n" in value else value
        return f"s{text}"
    # hex, because repr refuses a number of more than 4,300 digits.
    shown = hex(value) if type(value) is int else repr(value)
    return f"{type(value).__name__} {shown}"
