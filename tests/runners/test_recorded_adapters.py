"""The code of each shipped system, as it was when its `adapter_version` was last looked at.

An arm has a shipped system's `adapter_version` in place of its source. Where this test fails, the
code is another: raise the version if an answer or an index may differ by it, then record both with
`python tests/runners/test_recorded_adapters.py`. Comments and docstrings do not count.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import tokenize
from pathlib import Path

import pytest

from evalake_runners import adapters
from evalake_runners.adapters.bm25 import Bm25System
from evalake_runners.adapters.controls import ControlSystem
from evalake_runners.adapters.pydocs_mcp.versions import ADAPTER_VERSION
from evalake_runners.adapters.ripgrep import RipgrepSystem

RECORD = Path(__file__).with_name("recorded_adapters.json")
FOLDER = Path(adapters.__file__).parent
FILES = {
    "bm25": (Bm25System.adapter_version, ["bm25.py", "chunking.py", "words.py"]),
    "ripgrep": (RipgrepSystem.adapter_version, ["ripgrep.py", "words.py"]),
    "controls": (ControlSystem.adapter_version, ["controls.py"]),
    "pydocs-mcp": (ADAPTER_VERSION, sorted(
        f"pydocs_mcp/{file.name}" for file in (FOLDER / "pydocs_mcp").glob("*.py")
    )),
}  # fmt: skip


def code_only(text: str) -> str:
    """Source without its comments, docstrings and blank lines; the same in every Python."""
    lines: list[str | None] = list(text.split("\n"))
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                lines[value.lineno - 1 : value.end_lineno] = [None] * (
                    (value.end_lineno or value.lineno) - value.lineno + 1
                )
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = lines[token.start[0] - 1]
        if token.type == tokenize.COMMENT and line is not None:
            lines[token.start[0] - 1] = line[: token.start[1]]
    return "\n".join(line.rstrip() for line in lines if line is not None and line.strip())


def recorded(name: str) -> dict[str, str]:
    """What the record should hold of a system now."""
    version, files = FILES[name]
    text = "\0".join(code_only((FOLDER / file).read_text(encoding="utf-8")) for file in files)
    return {"adapter_version": version, "code": hashlib.sha256(text.encode()).hexdigest()}


@pytest.mark.parametrize("name", FILES)
def test_a_shipped_system_is_edited_with_an_eye_on_its_version(name: str) -> None:
    assert json.loads(RECORD.read_text())[name] == recorded(name), __doc__


def test_comments_docstrings_and_blank_lines_are_no_code() -> None:
    plain = "def f(x):\n    return '#' + x\n"
    noted = '"""Docs."""\n\ndef f(x):  # note\n    """More\n    docs."""\n\n    return \'#\' + x\n'
    assert code_only(noted) == code_only(plain)
    assert code_only(plain) != code_only(plain.replace("'#'", "'$'"))


if __name__ == "__main__":
    RECORD.write_text(json.dumps({name: recorded(name) for name in FILES}, indent=2) + "\n")
