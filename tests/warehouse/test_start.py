"""What a build starts from: the last sound build, whatever lies in the place of later ones."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from lake_factory import RunWriter, docs, write_dataset

from evalake_warehouse.build import BuildSettings, build
from evalake_warehouse.build.starting import find_start, remember_sound
from evalake_warehouse.errors import UsageError
from evalake_warehouse.project import Project
from evalake_warehouse.questions.open_warehouse import open_warehouse, rows
from evalake_warehouse.questions.warehouse_files import (
    build_file,
    builds,
    current_file,
    point_to,
    warehouse_link,
)

HOLD = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); input()"


def flipped(place: float) -> Callable[[bytes], bytes]:
    def damage(whole: bytes) -> bytes:
        at = int(len(whole) * place)
        return whole[:at] + bytes(255 - byte for byte in whole[at : at + 4096]) + whole[at + 4096 :]

    return damage


DAMAGES = {
    "empty": lambda _: b"",
    "cut": lambda whole: whole[:5000],
    "half": lambda whole: whole[: len(whole) // 2],
    "junk": lambda _: b"junk" * 5000,
    "early": flipped(0.3),
    "middle": flipped(0.5),
    "header": lambda whole: whole[:4179] + b"?" + whole[4180:],
}


def make_build(project: Project, build_id: str, scenario: str | None = None) -> Path:
    """A finished build, as small as can be read."""
    file = build_file(project, scenario, build_id)
    file.parent.mkdir(exist_ok=True)
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "create table int_build_state (run_id varchar, dataset varchar, edition varchar, "
            "judged_edition varchar, files_hash varchar, input_hash varchar)"
        )
        connection.execute(
            "create table meta_build as select 'x' as build_id, '{}' as vars_json, "
            "null::varchar as datasets_hash, null::varchar as code_hash"
        )
        connection.execute("create table bulk as select hash(range) as a from range(300000)")
    point_to(warehouse_link(project, scenario), file)
    remember_sound(project, file)
    return file


@pytest.fixture
def two(project: Project) -> tuple[Path, Path]:
    """An earlier and a later build."""
    return make_build(project, "a"), make_build(project, "b")


def start(
    project: Project, scenario: str | None = None, *, with_variables: bool = True
) -> Path | None:
    return find_start(project, scenario, with_variables=with_variables)


def test_a_sound_build_is_begun_with_and_nothing_is_moved(
    project: Project, two: tuple[Path, Path]
) -> None:
    assert start(project) == two[1]
    assert builds(project) == list(two)
    assert not (project.home / "set-aside").exists()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_build_is_set_aside_for_the_one_before_it(
    project: Project,
    two: tuple[Path, Path],
    damage: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    spoilt = DAMAGES[damage](two[1].read_bytes())
    two[1].write_bytes(spoilt)
    assert start(project) == two[0]
    assert builds(project) == [two[0]]
    assert current_file(project.warehouse) == two[0]
    moved = project.home / "set-aside" / two[1].name
    assert moved.read_bytes() == spoilt
    assert f"set aside as {moved}, and made again" in caplog.text


def test_an_untouched_build_is_not_read_through(
    project: Project, two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    monkeypatch.setattr(
        "evalake_warehouse.build.starting._read_through", lambda _, *, blocks: seen.append(blocks)
    )
    start(project)
    os.utime(two[1])
    start(project)
    start(project)
    assert seen == [False, True, False]


def test_where_none_can_be_read_the_build_begins_with_nothing(
    project: Project, two: tuple[Path, Path]
) -> None:
    for file in two:
        file.write_bytes(b"junk")
    assert start(project) is None
    assert builds(project) == []
    assert not os.path.lexists(project.warehouse)


@pytest.mark.parametrize("place", ["loop", "nothing", "folder", "junk", "pointer"])
def test_a_stable_name_that_stands_for_nothing_is_mended(
    project: Project, two: tuple[Path, Path], place: str
) -> None:
    link = project.warehouse
    link.unlink()
    if place == "loop":
        link.symlink_to(link.name)
    elif place == "nothing":
        link.symlink_to("warehouse-gone.duckdb")
    elif place == "folder":
        link.mkdir()
        (link / "x").touch()
    else:
        link.write_bytes(b"junk" if place == "junk" else b"evalake-pointer \xff\x00")
    assert start(project) == two[1]
    assert current_file(link) == two[1]


def test_a_held_build_is_begun_with_from_a_copy(project: Project, two: tuple[Path, Path]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(two[1])], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        found = start(project)
        holder.communicate(b"\n")
    assert found is not None
    assert found.parent == project.home / "build"
    assert found.read_bytes() == two[1].read_bytes()
    assert builds(project) == list(two)


def test_a_scenario_whose_variables_are_lost_is_refused_and_left_as_it_is(project: Project) -> None:
    file = make_build(project, "a", "t80")
    file.write_bytes(b"junk")
    with pytest.raises(UsageError, match="its variables are lost") as error:
        start(project, "t80")
    assert error.value.hint == "evalake build --var text_threshold=80 --scenario t80"
    assert file.exists()
    assert start(project, "t80", with_variables=False) is None
    assert (project.home / "set-aside" / file.name).exists()


@pytest.mark.parametrize("content", [b"", b"[1]", b"\xff", b"[" * 100_000])
def test_notes_of_sound_builds_may_hold_anything(
    project: Project, two: tuple[Path, Path], content: bytes
) -> None:
    (project.home / "warehouse-checked.json").write_bytes(content)
    assert start(project) == two[1]


@pytest.mark.dbt
def test_a_build_makes_again_what_was_damaged(project: Project) -> None:
    run = RunWriter(project.home, write_dataset(project.home, {"t": {"a": 1}}))
    run.event("started", n_tasks=1)
    run.attempts({"t": docs("x", "a")})
    run.event("finished", n_tasks=1, status="complete")
    strict = BuildSettings.parse(["min_pairs=20"])
    for scenario, settings in ((None, None), ("s", strict)):
        build(project, scenario=scenario, settings=settings)
        for file in builds(project, scenario):
            file.write_bytes(file.read_bytes()[:5000])
    # Left behind by a build that was killed, and what dbt keeps.
    for name in ("build/warehouse.duckdb", "build/work.duckdb", "build/work.duckdb.wal"):
        (project.home / name).write_bytes(b"junk")
    parsed = project.home / "dbt" / "target" / "partial_parse.msgpack"
    parsed.unlink(missing_ok=True)
    parsed.mkdir(parents=True)
    assert build(project).changed_runs == (run.run_id,)
    assert build(project, scenario="s", settings=strict).changed_runs == (run.run_id,)
    query = "select value from fct_task_metrics where metric = 'mrr'"
    for scenario in (None, "s"):
        with open_warehouse(project, scenario=scenario) as connection:
            assert rows(connection, query) == [{"value": 0.5}]
