"""What a node of a tree-sitter tree defines, or names without defining it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalake_warehouse.relevance.grammars import Grammar

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_VALUE_KINDS = {**dict.fromkeys(_FUNCTIONS, "function"), "class": "class"}
_WITH_VALUE = {
    "variable_declarator": "name", "field_definition": "property",
    "public_field_definition": "name", "assignment_expression": "left",
}  # fmt: skip
_BODY_NEEDED = frozenset(
    {"struct_specifier", "union_specifier", "enum_specifier", "class_specifier"}
)
_EXPORTS = re.compile(r"^(?:module\.)?exports\.|\.prototype(?=\.)")
_JOINTS = re.compile(r"\s*(?:::|\\|->)\s*")
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_NAMESPACES = ("namespace_definition", "file_scoped_namespace_declaration")
_NAME = re.compile(r"[^\W\d][\w$?!=~]*(?:\.[^\W\d][\w$?!=~]*)*|\$\w*(?:\.\w+)*|~?\w+|operator.+")


@dataclass(frozen=True, slots=True)
class Named:
    """A name for a part of a file; `kind` is None where it names a scope and defines nothing."""

    name: str
    kind: str | None
    to_file_end: bool = False  # it holds what follows it, not what is inside it


def read_name(node: Node, grammar: Grammar) -> Named | None:
    """The name that a node defines; None where it defines none."""
    kind = grammar.definitions.get(node.type)
    if kind is None:
        return _scope(node) if node.type in grammar.scopes else None
    if node.type in _WITH_VALUE:
        return _of_value(node, _WITH_VALUE[node.type], kind)
    if node.type in _BODY_NEEDED and node.child_by_field_name("body") is None:
        return None
    if node.type == "type_definition" and not _is_record(node):
        return None
    name = _declared(node)
    if name is None and node.parent is not None and node.parent.type == "export_statement":
        name = "default"
    if name is None:
        return None
    if node.type == "type_spec":
        told = node.child_by_field_name("type")
        kind = {"struct_type": "struct", "interface_type": "interface"}.get(
            told.type if told else "", kind
        )
    if node.type == "method_declaration" and (receiver := node.child_by_field_name("receiver")):
        name = f"{_receiver(receiver)}.{name}"
    return Named(name, kind)


def _of_value(node: Node, field: str, kind: str) -> Named | None:
    """A function or class that a variable, field or property holds."""
    value = node.child_by_field_name("right" if field == "left" else "value")
    target = node.child_by_field_name(field)
    if value is None or target is None:
        return None
    name = _clean(_EXPORTS.sub("", _text(target).removeprefix("this.")))
    if name is None:
        return None
    if value.type == "object" and node.type == "variable_declarator":
        return Named(name, None)
    found = _VALUE_KINDS.get(value.type)
    if found is None:
        return None
    return Named(name, kind if found == "function" else found)


def _scope(node: Node) -> Named | None:
    target = node.child_by_field_name("type" if node.type == "impl_item" else "name")
    if target is None:
        return None
    name = _clean(_text(target))
    if name is None:
        return None
    without_body = node.child_by_field_name("body") is None
    return Named(name, None, to_file_end=without_body and node.type.endswith(_NAMESPACES))


def _declared(node: Node) -> str | None:
    target = node.child_by_field_name("name")
    if target is None:
        # C and C++ wrap a name in what is declared of it: pointer, array, parameters.
        target = node.child_by_field_name("declarator")
        while target is not None and (
            inner := target.child_by_field_name("declarator")
            or next((c for c in target.named_children if c.type.endswith("declarator")), None)
        ):
            target = inner
    name = None if target is None else _clean(_text(target))
    if node.type == "singleton_method" and name is not None:
        owner = node.child_by_field_name("object")
        told = _clean(_text(owner)) if owner is not None else None
        return name if told in {None, "self"} else f"{told}.{name}"
    return name


def _is_record(node: Node) -> bool:
    """`typedef struct {...} name`, which has no other name."""
    told = node.child_by_field_name("type")
    return (
        told is not None
        and told.type in _BODY_NEEDED
        and told.child_by_field_name("body") is not None
        and told.child_by_field_name("name") is None
    )


def _receiver(node: Node) -> str:
    """Go: the type that a method belongs to."""
    words = re.findall(r"\w+", _TYPE_ARGUMENTS.sub("", _text(node)))
    return words[-1] if words else "_"


def _clean(text: str) -> str | None:
    """A name with its parts joined by dots, without type arguments and quotes."""
    joined = _JOINTS.sub(".", _TYPE_ARGUMENTS.sub("", text)).strip().strip("'\"#&* ").strip(".")
    return joined if _NAME.fullmatch(joined) else None


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
