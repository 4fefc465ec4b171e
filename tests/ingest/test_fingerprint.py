"""What two pieces of code must share to count as the same definition."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalake_warehouse.relevance import fingerprint as module
from evalake_warehouse.relevance.fingerprint import (
    FINGERPRINT_RULE,
    fingerprint_source,
    fingerprint_text,
    parse_source,
)

PLAIN = '''\
def greet(name: str, *, loud: bool = False) -> str:
    """Say hello.

    Twice if loud.
    """
    text = f"hello {name!r:>{10}}"  # a greeting
    return (text + "!" if loud
            else text)
'''

# One definition per feature that Python 3.12 or 3.13 parses or stores in another way than 3.11.
ACROSS_VERSIONS = {
    "plain": PLAIN,
    "class": "class A(B, metaclass=M):\n    x: int = 1\n    def f(self): return super().f()\n",
    "async": "async def f(a, /, b, *c, d=1, **e):\n    async with a as b, c: await d\n",
    "empty format": 'def f(x): return f"{x:}" + f"" + f"a{x}b" "c"\n',
    "debug format": 'def f(x): return f"{x = }" f"{x=:.2f}"\n',
    "nested format": 'def f(x, w): return f"{x:{w}.{w}}{{}}"\n',
    "numbers": "def f(): return 0xFF, 1e400, 1j, -0.0, 10**5, 1_000, b'\\x00', ..., None\n",
    "match": "def f(x):\n    match x:\n        case {'a': [1, *r], **k} | C(p=-1.5): return r\n",
    "groups": "def f():\n    try: pass\n    except* E as e: raise\n",
    "lambda": "def f(): return lambda *a, k=(yield): [x async for x in a if x]\n",
}
RECORDED = Path(__file__).with_name("recorded_fingerprints.json")

_SCRIPT = """
import json, sys
from evalake_warehouse.relevance.fingerprint import fingerprint_source
sources = json.load(sys.stdin)
json.dump({name: fingerprint_source(text) for name, text in sources.items()}, sys.stdout)
"""


def test_fingerprints_are_those_recorded_on_other_pythons() -> None:
    # Recorded on 3.11.7, 3.12.1 and 3.13.0, which agreed. A change of the rule needs a new version.
    recorded = json.loads(RECORDED.read_text("utf-8"))
    assert recorded["rule"] == FINGERPRINT_RULE
    found = {name: fingerprint_source(text) for name, text in ACROSS_VERSIONS.items()}
    assert found == recorded["fingerprints"]


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_another_python_finds_the_same_fingerprints(version: str) -> None:
    python = shutil.which(f"python{version}")
    if python is None:
        pytest.skip(f"no python{version} here; recorded fingerprints stand in for it")
    packages = Path(module.__file__).parents[2]
    done = subprocess.run(
        [python, "-c", _SCRIPT], input=json.dumps(ACROSS_VERSIONS), capture_output=True, text=True,
        env={"PYTHONPATH": str(packages)}, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"python{version} does not start here")
    assert json.loads(done.stdout) == json.loads(RECORDED.read_text("utf-8"))["fingerprints"]


@pytest.mark.parametrize(
    "other",
    [
        PLAIN.replace("  # a greeting", ""),
        PLAIN.replace(
            '(text + "!" if loud\n            else text)', "text + '!' if loud else text"
        ),
        "\n\n" + PLAIN.replace("    ", "\t"),
        "import os\nfrom a import b\n" + PLAIN,
        "@cache\n@app.route('/')\n" + PLAIN,
        "```python\n" + PLAIN + "```",
        "\n".join("        " + line if line else line for line in PLAIN.splitlines()),
        PLAIN.replace("\n", "\r\n"),
    ],
    ids=["comment", "layout", "tabs", "imports", "decorators", "fence", "indented", "line ends"],
)
def test_what_a_reader_would_not_call_another_function_changes_nothing(other: str) -> None:
    assert fingerprint_source(other) == fingerprint_source(PLAIN) is not None


@pytest.mark.parametrize(
    "other",
    [
        PLAIN.replace("greet", "welcome"),
        PLAIN.replace("loud: bool = False", "loud: bool = True"),
        PLAIN.replace("Twice", "Thrice"),
        PLAIN.replace("def", "async def"),
        PLAIN.replace('"!"', '"?"'),
        PLAIN.replace("str, *", "str, /, *"),
    ],
    ids=["name", "default", "docstring", "async", "constant", "parameter kind"],
)
def test_another_function_has_another_fingerprint(other: str) -> None:
    assert fingerprint_source(other) not in {None, fingerprint_source(PLAIN)}


def test_decorators_of_inner_definitions_count() -> None:
    inner = "class A:\n    @property\n    def x(self): return 1\n"
    assert fingerprint_source(inner) != fingerprint_source(inner.replace("    @property\n", ""))


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (PLAIN[:-20], "unparsable"),
        ("x = 1\n", "not_a_definition"),
        (PLAIN + PLAIN, "not_a_definition"),
        ("", "not_a_definition"),
        ("def f():\n    return 1\0\n", "unparsable"),
        ("def f():\n    return '\ud800'\n", "unparsable"),
        ("def f(): return " + "(" * 300 + ")" * 300, "unparsable"),
        ("def f(): return " + "-" * 100_000 + "1", "too_deep"),
        ("def f(): return 1" + "+1" * 200_000, "too_deep"),
        ("def f(): return a" + ".a" * 200_000, "too_deep"),
        ("def f(): return " + "9" * 5_000, "unparsable"),
        ("x = '" + "a" * 2_000_000 + "'", "too_large"),
    ],
    ids=[
        "cut off", "no definition", "two", "nothing", "null byte", "surrogate", "brackets", "signs",
        "sum", "attributes", "digits", "long line",
    ],
)  # fmt: skip
def test_hostile_text_has_a_status_and_raises_nothing(text: str, status: str) -> None:
    assert fingerprint_text(text).status == status
    assert fingerprint_text(text).fingerprint is None


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda data: data.decode("latin-1")))
def test_no_text_raises(text: str) -> None:
    assert (fingerprint_text(text).fingerprint is None) == (fingerprint_text(text).status != "ok")


def test_source_written_back_by_the_standard_library_keeps_its_fingerprint() -> None:
    # ast.unparse lays code out anew, which no fingerprint may see. Files of a real package.
    checked = 0
    for file in sorted(Path(json.__file__).parent.glob("*.py")):
        tree = parse_source(file.read_text("utf-8")).tree
        assert tree is not None
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                checked += 1
                assert fingerprint_source(ast.unparse(node)) == module.fingerprint_node(node)
    assert checked > 10


def test_the_walk_needs_no_stack() -> None:
    deep = "def f():\n    return " + "+".join("1" for _ in range(900))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(2_000)
    try:
        assert fingerprint_source(deep) is not None
    finally:
        sys.setrecursionlimit(limit)
