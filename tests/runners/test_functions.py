"""A plain function is a system: what it is given, what it may return, what makes it another arm."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from toy import PYTHONPATH, ROOT, evalake, rows

from evalake_runners.adapters.function import FunctionSystem
from evalake_runners.adapters.protocol import CorpusView, Query, RawHit, UnreadAnswerError
from evalake_runners.adapters.registry import get_adapter
from evalake_warehouse.errors import UsageError
from evalake_warehouse.project import Project

README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULE = '''\
"""A tool."""
__version__ = "3.1"

def plain(query):
    """Answers one file."""
    return ["pkg/mod_03.py"]

def everything(question, corpus, depth, library=None):
    return [{"path": str(corpus / "a.py"), "start_line": depth, "title": library, "text": question}]

def needy(query, weights): ...
def nothing(): ...
def wrong(query): return {"a": 1}
def no_hit(query): return [3]
def misspelt(query): return [{"pth": "a.py"}]
answer = 42
'''


@pytest.fixture(autouse=True)
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "tool_of_a_test.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(folder))


def system(function: str) -> FunctionSystem:
    adapter = get_adapter(f"python:tool_of_a_test:{function}")
    made: Any = adapter.make(adapter.config_model(), None)  # type: ignore[arg-type]
    assert isinstance(made, FunctionSystem)
    return made


def hits(function: str, tmp_path: Path, depth: int = 5) -> list[RawHit]:
    corpus = CorpusView("c", "files", tmp_path, ("a.py",))
    searcher = system(function).open(corpus, tmp_path)
    return list(searcher.search(Query("t", "who?", depth, 0, library="numpy")).hits)


def test_a_function_has_its_module_s_version_and_takes_what_it_names(tmp_path: Path) -> None:
    assert (system("plain").name, system("plain").version) == ("tool_of_a_test.plain", "3.1")
    assert get_adapter("python:tool_of_a_test:plain").summary == "Answers one file."
    assert hits("plain", tmp_path) == [RawHit(raw_path="pkg/mod_03.py")]
    assert hits("everything", tmp_path, 7) == [
        RawHit(raw_path=f"{tmp_path}/a.py", start_line=7, title="numpy", text="who?")
    ]


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("plin", "has no function `plin`; did you mean `plain`?"),
        ("answer", "is no function"),
        ("nothing", "must take the question"),
        ("needy", "wants `weights`; after the question it can have `corpus`, `depth`, `library`"),
    ],
)
def test_what_cannot_be_asked_is_refused(function: str, told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        get_adapter(f"python:tool_of_a_test:{function}")


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("wrong", "returned dict; a list of hits is wanted"),
        ("no_hit", "a hit is int; it must be a path or a dictionary"),
        ("misspelt", "a hit has `pth`; did you mean `path`?"),
    ],
)
def test_what_is_no_list_of_hits_fails_its_task(function: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadAnswerError, match=re.escape(told)):
        hits(function, tmp_path)


def test_the_function_in_readme_is_scored_and_an_edit_makes_another_arm(
    toy: Project, tmp_path: Path
) -> None:
    [code] = re.findall(r"```python\n(def search.*?)```", README, re.DOTALL)
    assert len(code.splitlines()) <= 5
    [command] = re.findall(r"^PYTHONPATH=\. (evalake run .*)$", README, re.MULTILINE)
    arguments = [
        *command.replace("starter", "toy").split()[1:],
        "--split",
        "all",
        "--confirm",
        "a test",
    ]
    folder = tmp_path / "mine"
    folder.mkdir()
    environment = {"PYTHONPATH": ":".join([str(folder), *PYTHONPATH])}
    for edit in ("", "# another\n"):
        (folder / "my_tool.py").write_text(code + edit)
        ended = evalake(toy, *arguments, **environment)
        assert ended.code == 0, ended.err
    first, second = (row for row in rows(toy, "runs") if row["event"] == "started")
    assert first["system"] == "my_tool.search"
    assert first["arm_hash"] != second["arm_hash"]
    again = evalake(toy, *arguments, "--json", **environment)
    assert [row["asked_now"] for row in json.loads(again.out)] == [0], again
    # By hand: a question names topic N, which module N alone is about.
    found = {
        (row["task_id"], row["path"]) for row in rows(toy, "hits")
        if row["run_id"] == second["run_id"] and row["rank"] == 1
    }  # fmt: skip
    assert ("task-00003", "pkg/mod_03.py") in found
