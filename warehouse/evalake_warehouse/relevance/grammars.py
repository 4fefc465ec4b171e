"""Languages by file name: whose definitions are read, and by which tree-sitter grammar.

Python is read by `ast` (`relevance.fingerprint`). A language without a grammar here is searched
like any text, and its files say that definitions are not read.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

PYTHON = "python"


@dataclass(frozen=True, slots=True)
class Grammar:
    """One tree-sitter grammar, and which of its nodes define or name something."""

    package: str  # of the wheel that ships its binary
    definitions: Mapping[str, str]  # node type -> kind of definition
    function: str = "language"  # of the package
    scopes: frozenset[str] = field(default=frozenset())  # they name what they hold, and no more
    separator: str | None = None  # how the language itself joins a name's parts, if not by a dot
    file_is_scope: bool = True  # whether a file's name is part of the names in it


_C = {
    "function_definition": "function", "struct_specifier": "struct", "union_specifier": "union",
    "enum_specifier": "enum", "type_definition": "type", "preproc_function_def": "macro",
}  # fmt: skip
_JAVASCRIPT = {
    "function_declaration": "function", "generator_function_declaration": "function",
    "class_declaration": "class", "method_definition": "method", "variable_declarator": "function",
    "field_definition": "method", "assignment_expression": "function",
}  # fmt: skip
_TYPESCRIPT = {
    **_JAVASCRIPT, "abstract_class_declaration": "class", "interface_declaration": "interface",
    "enum_declaration": "enum", "type_alias_declaration": "type", "internal_module": "namespace",
    "module": "namespace", "public_field_definition": "method", "function_signature": "function",
    "abstract_method_signature": "method",
}  # fmt: skip

GRAMMARS: dict[str, Grammar] = {
    "c": Grammar("tree_sitter_c", _C, file_is_scope=False),
    "cpp": Grammar(
        "tree_sitter_cpp",
        {**_C, "class_specifier": "class", "alias_declaration": "type"},
        scopes=frozenset({"namespace_definition"}), separator="::", file_is_scope=False,
    ),
    "csharp": Grammar(
        "tree_sitter_c_sharp",
        {
            "class_declaration": "class", "interface_declaration": "interface",
            "struct_declaration": "struct", "record_declaration": "class",
            "enum_declaration": "enum", "delegate_declaration": "type",
            "method_declaration": "method", "constructor_declaration": "method",
            "property_declaration": "property", "local_function_statement": "function",
        },
        scopes=frozenset({"namespace_declaration", "file_scoped_namespace_declaration"}),
        file_is_scope=False,
    ),
    "go": Grammar(
        "tree_sitter_go",
        {
            "function_declaration": "function", "method_declaration": "method",
            "type_spec": "type", "type_alias": "type",
        },
        file_is_scope=False,
    ),
    "java": Grammar(
        "tree_sitter_java",
        {
            "class_declaration": "class", "interface_declaration": "interface",
            "enum_declaration": "enum", "record_declaration": "class",
            "annotation_type_declaration": "interface", "method_declaration": "method",
            "constructor_declaration": "method", "compact_constructor_declaration": "method",
        },
        file_is_scope=False,
    ),
    "javascript": Grammar("tree_sitter_javascript", _JAVASCRIPT),
    "php": Grammar(
        "tree_sitter_php",
        {
            "function_definition": "function", "class_declaration": "class",
            "interface_declaration": "interface", "trait_declaration": "trait",
            "enum_declaration": "enum", "method_declaration": "method",
        },
        function="language_php", scopes=frozenset({"namespace_definition"}), separator="\\",
        file_is_scope=False,
    ),
    "ruby": Grammar(
        "tree_sitter_ruby",
        {"method": "method", "singleton_method": "method", "class": "class", "module": "module"},
        separator="::", file_is_scope=False,
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        {
            "function_item": "function", "function_signature_item": "function",
            "struct_item": "struct", "enum_item": "enum", "union_item": "union",
            "trait_item": "trait", "type_item": "type", "macro_definition": "macro",
            "mod_item": "module",
        },
        scopes=frozenset({"impl_item"}), separator="::",
    ),
    "tsx": Grammar(
        "tree_sitter_typescript", _TYPESCRIPT, function="language_tsx"
    ),
    "typescript": Grammar(
        "tree_sitter_typescript", _TYPESCRIPT, function="language_typescript"
    ),
}  # fmt: skip

_SUFFIXES = {
    PYTHON: ".py",
    "c": ".c .h", "cpp": ".cc .cpp .cxx .hh .hpp .hxx", "csharp": ".cs", "go": ".go",
    "java": ".java", "javascript": ".js .jsx .mjs .cjs", "php": ".php", "ruby": ".rb .rake",
    "rust": ".rs", "tsx": ".tsx", "typescript": ".ts .mts .cts",
    # Without a grammar here: searched, and told as languages whose definitions are not read.
    "clojure": ".clj .cljs .cljc", "cuda": ".cu .cuh", "cython": ".pyx .pxd", "dart": ".dart",
    "elixir": ".ex .exs", "erlang": ".erl .hrl", "fortran": ".f90 .f95 .f03", "fsharp": ".fs .fsx",
    "groovy": ".groovy .gradle", "haskell": ".hs", "julia": ".jl", "kotlin": ".kt .kts",
    "lua": ".lua", "notebook": ".ipynb", "objective-c": ".m .mm", "ocaml": ".ml .mli",
    "perl": ".pl .pm", "powershell": ".ps1 .psm1", "protobuf": ".proto", "python stub": ".pyi",
    "r": ".r", "scala": ".scala", "shell": ".sh .bash .zsh", "solidity": ".sol", "sql": ".sql",
    "svelte": ".svelte", "swift": ".swift", "verilog": ".v .sv", "vue": ".vue", "zig": ".zig",
}  # fmt: skip
_BY_SUFFIX = {suffix: name for name, all_of in _SUFFIXES.items() for suffix in all_of.split()}

# A `.h` file is C++ where a line begins with what C does not have.
_CPP_HEADER = re.compile(
    rb"^\s*(?:class\s+\w+|namespace\b|template\s*<|(?:public|private|protected)\s*:)", re.MULTILINE
)


def language_of(path: str) -> str | None:
    """The programming language of a file by its suffix; None for prose, data and markup."""
    return _BY_SUFFIX.get(posixpath.splitext(path)[1].lower())


def has_definitions(language: str | None) -> bool:
    """Whether definitions of that language are read."""
    return language == PYTHON or language in GRAMMARS


def grammar_of(path: str, content: bytes) -> str | None:
    """The key of the grammar that reads a file; None where there is none, or it is Python."""
    language = language_of(path)
    if language == "c" and path.endswith(".h") and _CPP_HEADER.search(content):
        return "cpp"
    return language if language in GRAMMARS else None
