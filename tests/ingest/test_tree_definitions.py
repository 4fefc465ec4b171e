"""Definitions of other languages than Python: names, lines, fingerprints, hostile files."""

from __future__ import annotations

import pytest

from evalake_ingest.corpora.definitions import DefinitionReader
from evalake_warehouse.relevance.grammars import GRAMMARS, grammar_of, language_of
from evalake_warehouse.relevance.tree_definitions import read_tree
from evalake_warehouse.relevance.tree_reader import TreeReader

Definition = tuple[str, str, int, int]

TYPESCRIPT = """\
import { x } from "./y";
@Injectable()
export class Auth<T> extends Base {
  handler = async (a: number) => { return a; };
  @Log()
  login(user: string): boolean {
    function inner() { return 1; }
    return inner() === 1;
  }
}
export interface Shape { area(): number }
export enum Color { Red }
export const lookup = (k: string) => k;
const a = 1, b = () => 2;
const api = { get() { return 1 } };
module.exports.send = function () {};
Foo.prototype.bar = function () {};
"""
GO = """\
package auth

type Handler[T any] struct {
	n int
}

type (
	Id   string
	Doer interface{ Do() error }
)

func (h *Handler[T]) ServeHTTP(w int) error { return nil }

func New() *Handler[int] {
	return nil
}
"""
RUST = """\
#[derive(Debug)]
pub struct Point<T> { x: T }
impl<T> Point<T> {
    #[inline]
    pub fn norm(&self) -> f64 { 0.0 }
}
pub trait Area { fn area(&self) -> f64; }
pub mod geo { pub fn dist() {} }
macro_rules! sq { ($x:expr) => { $x * $x }; }
"""
JAVA = """\
package com.acme;
@Entity
public class Foo<T> {
    public Foo() { }
    @Override
    public String toString() { return "a"; }
    static class Inner { int get() { return 1; } }
}
interface Bar { void go(); }
"""
C = """\
#define SQ(x) ((x)*(x))
struct point { int x; };
typedef struct { int y; } vec;
static int *find(struct point *p, int n)
{
    return 0;
}
int only_declared(int);
"""
CPP = """\
namespace geo {
template <typename T>
class Box {
 public:
  Box() {}
  T get() const { return v; }
};
}
int Lid::area(int x) { return x; }
"""
CSHARP = """\
namespace Acme.Web;
public class User { public string Name { get; set; } public int Age(int y) { return y; } }
"""
RUBY = """\
module Acme
  class User
    def name; end
    def self.find(id) = 1
  end
end
"""
PHP = """\
<?php
namespace Acme\\Web;
class User { public function name() { return 'a'; } }
function helper() { return 1; }
"""

EXPECTED: list[tuple[str, str, list[Definition]]] = [
    ("typescript", TYPESCRIPT, [
        ("Auth", "class", 2, 10), ("Auth.handler", "method", 4, 4), ("Auth.login", "method", 5, 9),
        ("Auth.login.inner", "function", 7, 7), ("Shape", "interface", 11, 11),
        ("Color", "enum", 12, 12), ("lookup", "function", 13, 13), ("b", "function", 14, 14),
        ("api.get", "method", 15, 15), ("send", "function", 16, 16),
        ("Foo.bar", "function", 17, 17),
    ]),
    ("go", GO, [
        ("Handler", "struct", 3, 5), ("Id", "type", 8, 8), ("Doer", "interface", 9, 9),
        ("Handler.ServeHTTP", "method", 12, 12), ("New", "function", 14, 16),
    ]),
    ("rust", RUST, [
        ("Point", "struct", 1, 2), ("Point.norm", "method", 4, 5), ("Area", "trait", 7, 7),
        ("Area.area", "method", 7, 7), ("geo", "module", 8, 8), ("geo.dist", "function", 8, 8),
        ("sq", "macro", 9, 9),
    ]),
    ("java", JAVA, [
        ("Foo", "class", 2, 8), ("Foo.Foo", "method", 4, 4), ("Foo.toString", "method", 5, 6),
        ("Foo.Inner", "class", 7, 7), ("Foo.Inner.get", "method", 7, 7),
        ("Bar", "interface", 9, 9), ("Bar.go", "method", 9, 9),
    ]),
    ("c", C, [
        ("SQ", "macro", 1, 1), ("point", "struct", 2, 2), ("vec", "type", 3, 3),
        ("find", "function", 4, 7),
    ]),
    ("cpp", CPP, [
        ("geo.Box", "class", 2, 7), ("geo.Box.Box", "method", 5, 5),
        ("geo.Box.get", "method", 6, 6), ("Lid.area", "function", 9, 9),
    ]),
    ("csharp", CSHARP, [
        ("Acme.Web.User", "class", 2, 2), ("Acme.Web.User.Name", "property", 2, 2),
        ("Acme.Web.User.Age", "method", 2, 2),
    ]),
    ("ruby", RUBY, [
        ("Acme", "module", 1, 6), ("Acme.User", "class", 2, 5),
        ("Acme.User.name", "method", 3, 3), ("Acme.User.find", "method", 4, 4),
    ]),
    ("php", PHP, [
        ("Acme.Web.User", "class", 3, 3), ("Acme.Web.User.name", "method", 3, 3),
        ("Acme.Web.helper", "function", 4, 4),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("language", "source", "expected"), EXPECTED)
def test_definitions_have_names_kinds_and_lines(
    language: str, source: str, expected: list[Definition]
) -> None:
    read = read_tree(language, source.encode())
    found = [(one.symbol, one.kind, one.start_line, one.end_line) for one in read.definitions]
    assert (read.status, found) == ("ok", expected)


def test_every_grammar_is_installed_and_reads_an_empty_file() -> None:
    assert {read_tree(language, b"").status for language in GRAMMARS} == {"ok"}


PLAIN = "class A { @Log() f(a: string) { return a + 'x y'; } }"


def fingerprint(source: str, language: str = "typescript") -> str:
    return read_tree(language, source.encode()).definitions[0].fingerprint


def test_layout_comments_and_own_decorators_leave_no_trace_in_a_fingerprint() -> None:
    same = "@Own()\nclass A {\n  // why\n  @Log()\n  f(a: string) {\n\treturn a + 'x y'\n  }\n}\n"
    assert fingerprint(same) == fingerprint(same.replace("\n", "\r\n")) == fingerprint(PLAIN)
    java = "class A { int f() { return 1; } }"
    own, other = (f"@{name} public {java}" for name in ("Own", "Other"))
    assert fingerprint(own, "java") == fingerprint(other, "java")


@pytest.mark.parametrize(
    "other",
    [
        "class A { @Log() f(a: string) { return a + 'x  y'; } }",  # a string's own spaces
        "class A { @Log() f(b: string) { return b + 'x y'; } }",
        "class A { @Other() f(a: string) { return a + 'x y'; } }",  # of what it holds
        "class A { @Log() f(a: string) { return a - 'x y'; } }",
        "class A { @Log() f(a: string) { return (a + 'x y').b; } }",
    ],
)
def test_other_code_has_another_fingerprint(other: str) -> None:
    assert fingerprint(other) != fingerprint(PLAIN)


def test_equal_text_in_two_languages_has_two_fingerprints() -> None:
    source = "function f() { return 1; }"
    assert fingerprint(source, "javascript") != fingerprint(source, "typescript")


@pytest.mark.parametrize(
    ("path", "content", "language"),
    [
        ("a.h", b"struct s { int a; };", "c"), ("a.h", b"class A {};", "cpp"),
        ("a.h", b"  namespace x {\n}", "cpp"), ("a.TSX", b"", "tsx"), ("a.py", b"", None),
        ("a.kt", b"", None), ("README.md", b"", None),
    ],
)  # fmt: skip
def test_a_file_is_read_by_the_grammar_of_its_language(
    path: str, content: bytes, language: str | None
) -> None:
    assert grammar_of(path, content) == language


def test_prose_has_no_language_and_kotlin_has_one_without_definitions() -> None:
    assert [language_of(path) for path in ("a.md", "a.json", "a.kt", "a.py")] == [
        None, None, "kotlin", "python",
    ]  # fmt: skip


def test_what_surrounds_a_syntax_error_is_kept_and_told() -> None:
    read = read_tree("go", b"package x\nfunc ok() {}\nfunc bad( {\n")
    assert [one.symbol for one in read.definitions] == ["ok"]
    assert (read.status, read.detail) == (
        "partly_parsed",
        "syntax the grammar does not know, the first at line 3; definitions around it are kept",
    )


def test_a_file_that_is_too_large_or_too_deep_is_told() -> None:
    deep = b"function f(){" * 60 + b"}" * 60
    assert read_tree("javascript", deep).status == "too_deep"
    assert read_tree("javascript", b"x;" * 500_001).status == "too_large"


def test_a_file_that_brings_the_parser_down_costs_itself_alone() -> None:
    with TreeReader() as reader:
        hostile = reader.read("typescript", b"a<b," * 20_000)  # takes 5 GB without a limit
        after = reader.read("typescript", b"function f() {}")
    assert hostile.status == "too_costly"
    assert [one.symbol for one in after.definitions] == ["f"]


def test_a_file_that_takes_too_long_is_told_with_the_limit() -> None:
    with TreeReader(max_seconds=0.0001) as reader:
        read = reader.read("go", b"package x\n" + b"func f() {}\n" * 20_000)
    assert (read.status, read.detail and read.detail[:40]) == (
        "too_costly", "parsing took more than 0.0001 seconds, o",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "source", "name"),
    [
        ("src/web/app.ts", "class A { f() {} }", "web.app.A.f"),
        ("src/web/index.ts", "class A { f() {} }", "web.A.f"),
        ("src/main/java/com/acme/A.java", "class A { void f() {} }", "com.acme.A.f"),
        ("src/main/java/com/acme/B.java", "class A { void f() {} }", "com.acme.B.A.f"),
        ("server/auth/h.go", "package auth\nfunc f() {}", "server.auth.h.f"),
    ],
)
def test_a_definition_is_called_by_its_path_and_its_name(path: str, source: str, name: str) -> None:
    with DefinitionReader([path]) as reader:
        assert reader.read(path, source.encode()).symbols[-1].qualified_name == name
