"""Names, places and kinds of definitions."""

from __future__ import annotations

from evalake_ingest.corpora.symbols import (
    SuffixIndex,
    Symbol,
    module_name,
    package_dirs,
    read_symbols,
)

SOURCE = b"""\
import functools

@functools.cache
@other
def top(a):
    def inner():
        class Deep:
            pass
    return inner

class Box:
    @property
    def size(self): return 1
    @size.setter
    def size(self, value):
        self.value = value

    async def load(self):
        if True:
            def helper(): pass
        try:
            pass
        except E:
            def handler(): pass
        match 1:
            case 1:
                def matched(): pass

if True:
    def top(a, b): pass
"""


def test_every_definition_is_found_with_its_name_kind_and_lines() -> None:
    found = [
        (one.symbol, one.kind, one.start_line, one.end_line)
        for one in read_symbols("a.py", SOURCE, module="a").symbols
    ]
    assert found == [
        ("top", "function", 3, 9),  # its decorators belong to it
        ("top.inner", "function", 6, 8),
        ("top.inner.Deep", "class", 7, 8),
        ("Box", "class", 11, 27),
        ("Box.size", "method", 12, 13),
        ("Box.size", "method", 14, 16),
        ("Box.load", "method", 18, 27),
        ("Box.load.helper", "function", 20, 20),
        ("Box.load.handler", "function", 24, 24),
        ("Box.load.matched", "function", 27, 27),
        ("top", "function", 30, 30),
    ]


def test_a_coding_line_and_a_byte_order_mark_are_obeyed() -> None:
    latin = "# -*- coding: latin-1 -*-\ndef café(): pass\n".encode("latin-1")
    marked = "\ufeffdef f(): pass\n".encode()
    assert [one.symbol for one in read_symbols("a.py", latin, module="a").symbols] == ["café"]
    assert [one.symbol for one in read_symbols("a.py", marked, module="a").symbols] == ["f"]


def test_module_names_start_at_the_outermost_package() -> None:
    paths = ["src/black/__init__.py", "src/black/sub/__init__.py", "src/black/sub/a.py"]
    packages = package_dirs([*paths, "docs/conf.py", "setup.py"])
    names = {path: module_name(path, packages) for path in [*paths, "docs/conf.py", "setup.py"]}
    assert names == {
        "src/black/__init__.py": "black",
        "src/black/sub/__init__.py": "black.sub",
        "src/black/sub/a.py": "black.sub.a",
        "docs/conf.py": "docs.conf",
        "setup.py": "setup",
    }


def test_a_namespace_package_below_a_source_root_loses_the_root_only() -> None:
    assert module_name("src/space/part/a.py", package_dirs([])) == "space.part.a"


def symbol(path: str, name: str, qualified: str) -> Symbol:
    return Symbol(path, qualified, name, "function", 1, 2, "f")


def test_a_suffix_is_an_alias_only_where_it_means_one_definition() -> None:
    first = symbol("src/pkg/a.py", "C.run", "pkg.a.C.run")
    second = symbol("src/pkg/b.py", "C.run", "pkg.b.C.run")
    index = SuffixIndex([first, second])
    assert index.names(first) == ["pkg.a.C.run", "src.pkg.a.C.run", "a.C.run"]  # C.run is shared


def test_a_package_module_is_known_with_and_without_init() -> None:
    index = SuffixIndex([one := symbol("pkg/__init__.py", "f", "pkg.f")])
    assert set(index.names(one)) == {"pkg.f", "pkg.__init__.f", "__init__.f"}


def test_two_definitions_of_one_name_in_one_file_share_their_aliases() -> None:
    # Overloads and property accessors: one name, one thing.
    twice = [symbol("a.py", "f", "a.f"), symbol("a.py", "f", "a.f")]
    assert SuffixIndex(twice).names(twice[0]) == ["a.f"]
