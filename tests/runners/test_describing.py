"""A user's system is made in a worker, never in evalake's own process; what it says is checked."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from driving import arm, run
from handmade import bound, system, write
from toy import SYSTEMS, evalake

from evalake_runners.adapters.facts import facts_of, read_facts
from evalake_runners.sweeps.system_file import load_system
from evalake_runners.workers.describing import check_config, list_keys
from evalake_warehouse.errors import EvalakeError, ExitCode, UsageError
from evalake_warehouse.project import Project


def returning(method: str, value: str) -> str:
    """A system one of whose methods returns something else than an empty mapping."""
    head = f"def {method}(self):\n        return "
    assert head + "{}" in system()
    return system().replace(head + "{}", head + value)


WRONG = {
    "an end of the process while it is loaded": (
        system(imports="import os\nos._exit(7)"), "cannot be loaded: worker exited with code 7",
    ),
    "an end of the process in the constructor": (
        system().replace("self.config = config", "__import__('os')._exit(7)"),
        "cannot be loaded: worker exited with code 7",
    ),
    "an exit while it is loaded": (
        system(imports="import sys\nsys.exit(3)"), "cannot be loaded: SystemExit: 3",
    ),
    "a crash in the constructor": (
        system().replace("self.config = config", "import os; os.kill(os.getpid(), 11)"),
        "cannot be loaded: worker was killed by SIGSEGV",
    ),
    "no system": (
        system().replace("return MySystem(config)", "return None"),
        "the system that `make` returned has no `name`",
    ),
    "a configuration that is no number": (
        returning("public_config", "{'k': float('nan')}"),
        "`public_config` must return a mapping that JSON can hold, not {'k': nan}",
    ),
    "a configuration without an end": (
        system().replace("return {}", "loop = []; loop.append(loop); return {'k': loop}", 1),
        "`public_config` must return a mapping that JSON can hold",
    ),
    "an index key that is an object": (
        returning("ingestion_config", "{'k': object()}"),
        "`ingestion_config` must return a mapping that JSON can hold",
    ),
    "a name that is a folder above": (
        system(members="name = '..'"), "`name` must be one without slashes and no hidden one",
    ),
    "a name with a slash": (
        system(members="name = 'a/b'"), "`name` must be one without slashes and no hidden one",
    ),
    "a name with a control character": (
        system(members="name = 'a\\x1b[2Jb'"), "`name` must be a line of at most 200 characters",
    ),
    "branches that are a text": (
        system(members="branches = 'bm25'"), "`branches` must be a list of names, not 'bm25'",
    ),
    "branches with a control character": (
        system(members="branches = ('a\\x00',)"),
        "a name in `branches` must be a line of at most 200 characters",
    ),
    "a need that is a word": (
        system(members="needs_network = 'no'"), "`needs_network` must be True or False, not 'no'",
    ),
    "a file that is a device": (
        returning("config_files", "{'f': '/dev/zero'}"), "/dev/zero: is no file and no folder",
    ),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the import path."""
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.syspath_prepend(str(own))
    return own


@pytest.mark.parametrize("case", WRONG)
def test_a_system_that_cannot_be_described_is_refused_and_evalake_lives(
    case: str, toy: Project, folder: Path
) -> None:
    text, message = WRONG[case]
    write(folder, {"described.py": text})
    with pytest.raises(EvalakeError) as caught:
        load_system("python:described", None, toy)
    assert caught.value.exit_code == ExitCode.USAGE
    assert message in str(caught.value)
    assert "described" not in sys.modules


def test_a_module_that_ends_the_process_ends_a_command_with_a_message_and_code_2(
    toy: Project, folder: Path
) -> None:
    for number, line in enumerate(("os._exit(7)", "raise SystemExit(0)", "def broken(:")):
        name = f"ending_{number}"
        write(folder, {f"{name}.py": system(imports=f"import os\n{line}")})
        done = evalake(
            toy, "run", "--system", f"python:{name}", "--dataset", "toy", "--split", "dev",
            PYTHONPATH=os.pathsep.join([*sys.path, str(SYSTEMS), str(folder)]),
        )  # fmt: skip
        assert done.code == 2, done.err
        assert f"system `python:{name}` cannot be loaded" in done.err
        assert "Traceback" not in done.err


def test_a_run_loads_no_code_of_a_system_into_evalakes_own_process(
    toy: Project, folder: Path
) -> None:
    write(folder, {"elsewhere.py": system()})
    (result,) = run(toy, arm("python:elsewhere"))
    assert result.statuses == {"ok": 12}
    assert "elsewhere" not in sys.modules


def test_an_edited_module_is_described_anew(toy: Project, folder: Path) -> None:
    write(folder, {"edited.py": system(members="branches = ('a',)")})
    assert bound(toy, "edited").branches == ("a",)
    write(folder, {"edited.py": system(members="branches = ('a', 'bb')")})
    assert bound(toy, "edited").branches == ("a", "bb")


def test_keys_of_a_users_system_are_checked_and_listed_from_outside(folder: Path) -> None:
    write(folder, {"keyed.py": system()})
    assert check_config("python:keyed", {"boost": 2}) == []
    (wrong,) = check_config("python:keyed", {"bost": 2})
    assert wrong == (("bost",), "unknown key; did you mean `boost`?")
    rows, schema = list_keys("python:keyed")
    assert [(row["key"], row["default"]) for row in rows] == [("boost", "1.0")]
    assert schema["properties"].keys() == {"boost"}


def test_facts_that_were_sent_are_checked_again() -> None:
    plain = {
        "name": "mine", "version": "1", "adapter_version": "1", "output": "ranked",
        "needs_network": False, "gives_text": True, "branches": ["b", "a"], "config": {"k": 1},
        "ingestion": {}, "config_files": {"f": "/a/b"}, "source_files": [],
    }  # fmt: skip
    facts = read_facts(plain, "python:mine")
    assert (facts.branches, facts.config) == (("a", "b"), {"k": 1})
    assert facts.config_files == {"f": Path("/a/b")}
    for changed in ({"name": ".."}, {"config": [1]}, {"branches": "a"}, {"config_files": {"f": 1}}):
        with pytest.raises(UsageError):
            read_facts(plain | changed, "python:mine")


def test_texts_of_a_class_of_their_own_become_plain_texts() -> None:
    class Loud(str):
        __slots__ = ()

        def __str__(self) -> str:
            raise RuntimeError

    class Mine:
        name, version, adapter_version, output = Loud("mine"), Loud("1"), Loud("1"), Loud("ranked")
        needs_network = False
        public_config = config_files = ingestion_config = index = open = dict

    facts = facts_of(Mine(), "python:mine")  # type: ignore[arg-type]
    assert {type(value) for value in (facts.name, facts.version, facts.output)} == {str}
