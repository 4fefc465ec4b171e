"""The code of a user's own system: what makes another arm, another index, or neither."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import pytest
from driving import arm, request, run, run_plan
from handmade import bound, system, write
from toy import rows

from evalake_runners.adapters.files import package_version, path_sha256
from evalake_runners.adapters.pydocs_mcp.models import model_fingerprint
from evalake_runners.adapters.sources import read_source
from evalake_runners.engine.plan import make_plan
from evalake_runners.sweeps.arms import bind, edited_since
from evalake_runners.sweeps.system_file import load_system
from evalake_runners.workers.describing import Description, describe
from evalake_warehouse.errors import EvalakeError, ExitCode, UsageError
from evalake_warehouse.project import Project


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the import path; what was imported from it is forgotten after the test."""
    own = tmp_path / "own"
    own.mkdir()
    monkeypatch.syspath_prepend(str(own))
    yield own
    names = {path.name.partition(".")[0] for path in own.iterdir()}
    for name in [name for name in sys.modules if name.partition(".")[0] in names]:
        del sys.modules[name]


def test_two_modules_of_one_name_and_version_and_an_edited_one_are_three_arms(
    toy: Project, folder: Path
) -> None:
    write(folder, {"alpha.py": system(), "beta.py": system()})
    assert run(toy, arm("python:alpha"))[0].state == "ran"
    assert run(toy, arm("python:beta"))[0].state == "ran"
    assert run(toy, arm("python:alpha"))[0].state == "done"
    write(folder, {"alpha.py": system(search="return Answer(hits=[])")})
    (edited,) = run(toy, arm("python:alpha"))
    assert (edited.state, edited.statuses) == ("ran", {"empty": 12})
    assert len({row["arm_hash"] for row in rows(toy, "runs")}) == 3


def test_two_systems_of_one_package_are_two_arms(toy: Project, folder: Path) -> None:
    write(folder, {"mine/__init__.py": "", "mine/one.py": system(), "mine/two.py": system()})
    one, two = bound(toy, "mine.one"), bound(toy, "mine.two")
    assert one.config_files == two.config_files
    assert one.arm_hash != two.arm_hash
    assert one.ingestion_hash != two.ingestion_hash


def test_an_edited_indexer_builds_another_index(toy: Project, folder: Path) -> None:
    write(folder, {"ix.py": system(mark="old")})
    run(toy, arm("python:ix"), limit=2)
    write(folder, {"ix.py": system(mark="new")})
    run(toy, arm("python:ix"), limit=3)
    assert {row["title"] for row in rows(toy, "hits")} == {"old", "new"}
    assert [row["cache_hit"] for row in rows(toy, "index_events")] == [False, False]


def test_the_run_keeps_the_hash_of_every_file_so_that_two_runs_can_be_told_apart(
    toy: Project, folder: Path
) -> None:
    write(folder, {"glue.py": system(imports="import helper"), "helper.py": "WEIGHT = 1\n"})
    run(toy, arm("python:glue"), limit=1)
    write(folder, {"helper.py": "WEIGHT = 2\n"})
    run(toy, arm("python:glue"), limit=1)
    started = [row for row in rows(toy, "runs") if row["event"] == "started"]
    first, second = (json.loads(row["config_files_json"]) for row in started)
    assert first.keys() == second.keys() == {"source:glue.py", "source:helper.py"}
    assert [name for name in first if first[name] != second[name]] == ["source:helper.py"]


# What the module is, the files beside it, and the one that is edited.
COUNTED = {
    "a helper": ("glue", {"glue.py": "import helper", "helper.py": ""}, "helper.py"),
    "a helper's helper": (
        "glue",
        {"glue.py": "import one", "one.py": "from two import *", "two.py": ""},
        "two.py",
    ),
    "a helper imported inside a function": (
        "glue", {"glue.py": "def late():\n    import helper", "helper.py": ""}, "helper.py",
    ),
    "a helper imported by its name in a string": (
        "glue",
        {"glue.py": "import importlib\nimportlib.import_module('helper')", "helper.py": ""},
        "helper.py",
    ),
    "a module imported from a package": (
        "glue", {"glue.py": "from lib.deep import far", "lib/__init__.py": "",
                 "lib/deep/__init__.py": "", "lib/deep/far.py": ""}, "lib/deep/far.py",
    ),
    "data in an imported package": (
        "glue", {"glue.py": "import lib", "lib/__init__.py": "", "lib/weights.json": "1"},
        "lib/weights.json",
    ),
    "the package's own `__init__`": (
        "mine.glue", {"mine/glue.py": "", "mine/__init__.py": ""}, "mine/__init__.py",
    ),
    "a neighbour in the package that nothing imports": (
        "mine.sub.glue",
        {"mine/sub/glue.py": "", "mine/__init__.py": "", "mine/sub/__init__.py": "",
         "mine/plugins/extra.py": ""},
        "mine/plugins/extra.py",
    ),
    "a relative import": (
        "mine.sub.glue",
        {"mine/sub/glue.py": "from .. import other\nfrom ..lib import x", "mine/lib.py": "x = 1",
         "mine/other.py": ""},
        "mine/other.py",
    ),
    "a relative import of a name": (
        "mine.sub.glue",
        {"mine/sub/glue.py": "from .. import other\nfrom ..lib import x", "mine/lib.py": "x = 1",
         "mine/other.py": ""},
        "mine/lib.py",
    ),
    "a module that is a package": ("mine", {"mine/__init__.py": ""}, "mine/__init__.py"),
    "a module in folders without `__init__`": (
        "space.inner.glue", {"space/inner/glue.py": "import space.inner.other",
                             "space/inner/other.py": ""}, "space/inner/other.py",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", COUNTED)
def test_an_edit_that_can_change_an_answer_is_another_arm_and_index(
    case: str, toy: Project, folder: Path
) -> None:
    module, files, edited = COUNTED[case]
    entry = next(name for name in files if name in _files_of(module))
    write(folder, files | {entry: system(imports=files[entry])})
    before, same = bound(toy, module), bound(toy, module)
    assert (before.arm_hash, before.ingestion_hash) == (same.arm_hash, same.ingestion_hash)
    with (folder / edited).open("a") as file:
        file.write("\n")
    after = bound(toy, module)
    assert after.arm_hash != before.arm_hash
    assert after.ingestion_hash != before.ingestion_hash
    changed = {n for n, sha in after.config_files.items() if before.config_files[n] != sha}
    assert changed == {f"source:{edited}"}
    assert after.version_known


def test_what_cannot_change_an_answer_is_the_same_arm(toy: Project, folder: Path) -> None:
    write(folder, {"mine/glue.py": system(imports="import json, pydantic"), "mine/__init__.py": ""})
    before = bound(toy, "mine.glue")
    write(folder, {"beside.py": "", "mine/.cache/x.json": "1", "mine/__pycache__/glue.pyc": "x"})
    assert bound(toy, "mine.glue").arm_hash == before.arm_hash
    assert before.config_files.keys() == {"source:mine/glue.py", "source:mine/__init__.py"}


def test_the_same_code_in_another_folder_is_the_same_arm(
    toy: Project, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = "source_files = ['data/words.txt', '../shared']"
    files = {"own/mine/glue.py": system(members=members), "own/mine/__init__.py": "",
             "own/mine/data/words.txt": "a", "own/shared/x.txt": "b"}  # fmt: skip
    write(tmp_path, files)
    here = bound(toy, "mine.glue")
    write(tmp_path / "copy", files)
    monkeypatch.syspath_prepend(str(tmp_path / "copy" / "own"))
    assert bound(toy, "mine.glue").arm_hash == here.arm_hash


def test_a_lake_inside_the_package_is_no_source(folder: Path, tmp_path: Path) -> None:
    write(folder, {"mine/__init__.py": "", "mine/home/lake/runs.parquet": "x"})
    assert read_source("mine", leave_out=folder / "mine" / "home").files.keys() == {
        "mine/__init__.py"
    }


@pytest.mark.parametrize("where", ["module", "system"])
def test_a_file_that_is_read_and_not_imported_counts_where_it_is_declared(
    where: str, toy: Project, folder: Path
) -> None:
    declared = "source_files = ['weights.json', 'prompts']"
    text = system(imports=declared) if where == "module" else system(members=declared)
    write(folder, {"glue.py": text, "weights.json": "1", "prompts/a.txt": "a"})
    hashes = [bound(toy, "glue").arm_hash]
    for name in ("weights.json", "prompts/a.txt", "prompts/new.txt"):
        write(folder, {name: "another"})
        hashes.append(bound(toy, "glue").arm_hash)
    assert len(set(hashes)) == 4
    (folder / "weights.json").unlink()
    with pytest.raises(UsageError, match=r"weights.json: `source_files`: no such file"):
        bound(toy, "glue")


def test_a_folder_behind_a_link_counts_and_a_circle_of_links_ends(
    toy: Project, folder: Path, tmp_path: Path
) -> None:
    write(tmp_path, {"elsewhere/words.txt": "a"})
    write(folder, {"mine/glue.py": system(), "mine/__init__.py": ""})
    (folder / "mine" / "data").symlink_to(tmp_path / "elsewhere")
    (folder / "mine" / "circle").symlink_to(folder / "mine")
    before = bound(toy, "mine.glue")
    assert before.config_files.keys() == {
        "source:mine/__init__.py", "source:mine/glue.py", "source:mine/data/words.txt",
    }  # fmt: skip
    write(tmp_path, {"elsewhere/words.txt": "b"})
    assert bound(toy, "mine.glue").arm_hash != before.arm_hash


def test_a_key_that_the_system_keeps_out_of_the_lake_makes_another_arm(
    toy: Project, folder: Path
) -> None:
    write(folder, {"glue.py": system()})  # its public_config is empty
    plain, boosted = bound(toy, "glue"), bound(toy, "glue", boost=2.0)
    assert plain.config_json == boosted.config_json == "{}"
    assert plain.arm_hash != boosted.arm_hash


def test_an_installed_package_counts_by_its_version(
    toy: Project, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, {"glue.py": system(imports="import yaml\nfrom bm25s import BM25\nimport os")})
    found = read_source("glue")
    assert found.packages.keys() == {"PyYAML", "bm25s"}
    before = bound(toy, "glue")

    def with_newer_package(*arguments: Any) -> Description:
        described = describe(*arguments)
        assert described.source is not None
        assert described.source.packages == found.packages
        newer = replace(described.source, packages={**found.packages, "bm25s": "99"})
        return replace(described, source=newer)

    monkeypatch.setattr("evalake_runners.sweeps.arms.describe", with_newer_package)
    assert bound(toy, "glue").arm_hash != before.arm_hash


def test_what_cannot_be_read_is_of_unknown_version_and_never_done_nor_reused(
    toy: Project, folder: Path
) -> None:
    with zipfile.ZipFile(folder / "packed.zip", "w") as archive:
        archive.writestr("hidden.py", "X = 1\n")
    sys.path.insert(0, str(folder / "packed.zip"))
    try:
        write(folder, {"glue.py": system(imports="import hidden")})
        arms = [bound(toy, "glue")]
        assert (arms[0].unread, arms[0].system_version) == (("hidden",), "unknown")
        assert [run(toy, arm("python:glue"))[0].state for _ in range(2)] == ["ran", "ran"]
    finally:
        sys.path.remove(str(folder / "packed.zip"))
    assert [row["cache_hit"] for row in rows(toy, "index_events")] == [False, False]


def test_a_compiled_module_is_unknown_until_its_file_is_declared(
    toy: Project, folder: Path
) -> None:
    name = f"fast{EXTENSION_SUFFIXES[0]}"
    late = "def late():\n    import fast"
    declared = system(imports=late, members=f"source_files = [{name!r}]")
    write(folder, {name: "1", "glue.py": system(imports=late), "declaring.py": declared})
    assert bound(toy, "glue").unread == ("fast",)
    before = bound(toy, "declaring")
    assert before.version_known
    write(folder, {name: "2"})
    assert bound(toy, "declaring").arm_hash != before.arm_hash


def test_code_that_is_edited_after_the_plan_is_not_run_under_the_hash_of_the_old(
    toy: Project, folder: Path
) -> None:
    write(folder, {"glue.py": system(imports="import helper"), "helper.py": ""})
    plan = make_plan(toy, request(arm("python:glue")))
    write(folder, {"helper.py": "X = 2\n"})
    (result,) = run_plan(toy, plan)
    assert result.statuses == {"error": 12}
    (reason,) = {row["reason"] for row in rows(toy, "attempts")}
    assert "changed after the run was planned: helper.py" in reason
    assert rows(toy, "index_events")[0]["status"] == "error"


WRONG = {
    "no names": ("x = 1", "python:bad: the module has no `CONFIG`, `make`"),
    "no members": (
        system().replace("output, needs_network", "outputs, needs").replace("def index", "def i"),
        "python:bad: the system that `make` returned has no `output`, `needs_network`, `index`",
    ),
    "an exception while it is loaded": (
        "\n\nundefined_name\n",
        "system: system `python:bad` cannot be loaded: NameError: "
        "name 'undefined_name' is not defined (bad.py:3)",
    ),
    "a syntax error": ("def (:", "(bad.py:1)"),
    "an exit": ("import sys\nsys.exit('no licence')", "SystemExit: no licence (bad.py:2)"),
    "another output": (
        system().replace('"ranked"', '"rankd"'),
        "python:bad: `output` must be one of ranked, composite, blob, not 'rankd'",
    ),
    "a version that is a number": (
        system().replace('"mine", "1"', '"mine", 1'),
        "python:bad: `version` must be a text, not 1",
    ),
    "a constructor that raises": (
        system().replace("self.config = config", "raise KeyError('home')"),
        "system `python:bad` cannot be made: KeyError: 'home' (bad.py:",
    ),
    "an attribute that raises": (
        system(members="@property\ndef gives_text(self): raise OSError('gone')"),
        "python:bad: `gives_text` raised OSError: gone (bad.py:",
    ),
    "a method that raises": (
        system().replace("return {}", "return 1 / 0", 1),
        "python:bad: `public_config` raised ZeroDivisionError: division by zero (bad.py:",
    ),
    "a configuration that JSON cannot hold": (
        system().replace("return {}", "return {'a': {1, 2}}", 1),
        "python:bad: `public_config` must return a mapping that JSON can hold, not {'a': {1, 2}}",
    ),
    "a required key": (
        system().replace("boost: float = 1.0", "boost: float"),
        "`boost`: Field required",
    ),
    "a configuration of another kind": (
        system().replace("class CONFIG(Strict)", "class CONFIG(dict)"),
        "python:bad: `CONFIG` must be a subclass of `Strict`",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_module_that_is_no_system_is_refused_with_what_is_wrong(
    case: str, toy: Project, folder: Path
) -> None:
    text, message = WRONG[case]
    write(folder, {"bad.py": text})
    with pytest.raises(EvalakeError) as caught:
        load_system("python:bad", None, toy)
    assert caught.value.exit_code == ExitCode.USAGE
    assert message in str(caught.value)


def _files_of(module: str) -> tuple[str, str]:
    path = module.replace(".", "/")
    return f"{path}.py", f"{path}/__init__.py"


def test_a_checkout_on_the_path_is_a_version_of_its_own_and_an_edit_another(folder: Path) -> None:
    installed = package_version("bm25s", "bm25s")
    write(folder, {"checkout/__init__.py": "X = 1\n"})
    first = package_version("bm25s", "checkout")
    write(folder, {"checkout/__init__.py": "X = 2\n"})
    second = package_version("bm25s", "checkout")
    assert len({installed, first, second}) == 3
    assert first.startswith(f"{installed}+src.")


def test_a_named_folder_counts_with_what_is_behind_its_links(tmp_path: Path) -> None:
    write(tmp_path, {"elsewhere/weights.bin": "a", "model/config.json": "{}"})
    (tmp_path / "model" / "current").symlink_to(tmp_path / "elsewhere")
    before = path_sha256(tmp_path / "model"), model_fingerprint.__wrapped__(tmp_path / "model")
    write(tmp_path, {"elsewhere/weights.bin": "b"})
    after = path_sha256(tmp_path / "model"), model_fingerprint.__wrapped__(tmp_path / "model")
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_a_pipeline_that_is_edited_after_the_plan_is_told_by_its_name(toy: Project) -> None:
    spec = load_system("pydocs-lexical", None, toy)
    planned = bind(spec, dataset="d", edition="e", seed=0, project=toy)
    assert edited_since(planned) is None
    pipeline = toy.configs / "pipelines" / "lexical.yaml"
    with pipeline.open("a") as file:
        file.write("# another\n")
    assert edited_since(planned) == "pipeline"
    pipeline.unlink()
    assert "no such file or folder" in str(edited_since(planned))


def test_what_a_system_writes_beside_its_code_while_it_runs_is_no_edit(
    toy: Project, folder: Path
) -> None:
    write(folder, {"mine/glue.py": system(), "mine/__init__.py": "", "mine/kept.json": "1"})
    planned = bound(toy, "mine.glue")
    write(folder, {"mine/seen.json": "1", "mine/debug.log": "1"})
    assert edited_since(planned) is None
    write(folder, {"mine/shadow.py": "", "mine/kept.json": "2"})
    assert edited_since(planned) == "mine/kept.json, mine/shadow.py"
