"""Files of one ingest or import are in the lake together, or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from evalake_ingest.publish import staged
from evalake_warehouse.lake.writer import write_rows
from evalake_warehouse.project import Project

DAY = date(2026, 1, 1)


def write_split(lake: Path, stem: str) -> None:
    row = {
        "dataset": "d", "edition": stem, "task_id": "t", "split": "dev", "rule": "r",
        "rule_version": "1", "seed": 0,
    }  # fmt: skip
    write_rows(lake, "splits", [row], dataset="d", run_date=DAY, stem=stem)


def write_text(lake: Path, stem: str) -> None:
    row = {"dataset": "d", "text_sha256": "0", "text": "t", "origin": "gold"}
    write_rows(lake, "texts", [row], dataset="d", run_date=DAY, stem=stem)


def stems(project: Project) -> list[str]:
    files = project.lake.glob("*/dataset=d/run_date=*/*.parquet")
    return sorted(f"{file.parents[2].name}/{file.stem}" for file in files)


def test_files_join_the_lake_when_the_block_ends(project: Project) -> None:
    with staged(project, "d") as lake:
        write_split(lake, "e")
        assert stems(project) == []
    assert stems(project) == ["splits/e"]
    assert list(project.lake.glob(".staged-*")) == []


def test_an_error_leaves_nothing_behind(project: Project) -> None:
    def torn() -> None:
        with staged(project, "d") as lake:
            write_split(lake, "e")
            raise OSError(28, "no space left")

    with pytest.raises(OSError, match="no space left"):
        torn()
    assert stems(project) == []
    assert list(project.lake.glob(".staged-*")) == []


KILLED = """
import os, sys
from pathlib import Path
from evalake_ingest.publish import staged
from evalake_warehouse.project import Project
from test_publish import write_split, write_text

moved = 0
replace = Path.replace

def dying(self, target):
    global moved
    if self.suffix == ".parquet":
        if moved == int(sys.argv[2]):
            os.kill(os.getpid(), 9)
        moved += 1
    return replace(self, target)

with staged(Project(home=Path(sys.argv[1]), data_dir=Path(sys.argv[1])), "d") as lake:
    write_split(lake, "e")
    write_text(lake, "e")
    Path.replace = dying
"""


@pytest.mark.parametrize(("moves", "left"), [(0, []), (1, ["splits/e"])])
def test_what_a_kill_left_is_undone_by_the_next(
    project: Project, moves: int, left: list[str]
) -> None:
    command = [sys.executable, "-c", KILLED, str(project.home), str(moves)]
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, check=False)
    assert done.returncode == -9
    assert stems(project) == left
    with staged(project, "d"):
        assert stems(project) == []


def test_a_file_of_an_ingest_without_its_mark_gives_way(project: Project) -> None:
    write_split(project.lake, "e")
    with staged(project, "d") as lake:
        write_split(lake, "e")
    assert stems(project) == ["splits/e"]
