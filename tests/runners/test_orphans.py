"""Nothing outlives evalake: not a worker, not what it started, not a temporary file."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from driving import running
from toy import Sweep, command, environment, evalake

from evalake_warehouse.leftovers import sweep_leftovers
from evalake_warehouse.project import Project
from evalake_warehouse.scratch import replacing, scratch_folder

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux's kernel")

HOG = """\
name: hog
datasets: [{{dataset: toy, split: all}}]
arms:
  - system: python:bordering
    config: {{on: {{"task-00000": hog}}, notes: {notes}, mark: {mark}}}
"""


@linux_only
def test_a_worker_that_holds_its_interpreter_ends_with_a_killed_main_and_so_do_its_children(
    toy: Project, tmp_path: Path
) -> None:
    mark = "hogging-child-of-a-test"
    sweep = Sweep(tmp_path, HOG.format(notes=tmp_path, mark=mark))
    own_tmp = tmp_path / "tmp"
    own_tmp.mkdir()
    main = subprocess.Popen(
        command("run", str(sweep.path), "--confirm", "a test"),
        env=environment(toy, TMPDIR=str(own_tmp)), cwd=toy.home, stderr=subprocess.PIPE,
    )  # fmt: skip
    started = tmp_path / "started"
    wait_until(lambda: started.exists() and running(mark))
    assert list(own_tmp.iterdir())
    main.kill()
    main.communicate()
    worker = Path("/proc", started.read_text())
    wait_until(lambda: not worker.exists() and not running(mark))

    # What it left of files is gone with the next start, and the run goes on.
    sweep.path.write_text(sweep.path.read_text().replace("task-00000", "task-99999"))
    done = evalake(toy, "run", str(sweep.path), "--confirm", "a test", TMPDIR=str(own_tmp))
    assert done.code == 0, done.err
    assert [path.name for path in own_tmp.iterdir()] == []


@linux_only
def test_a_pool_of_processes_ends_with_a_killed_main(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    code = f"""
import os, pathlib, time
from evalake_warehouse.processes import spawned_pool

if __name__ == "__main__":
    with spawned_pool(1) as pool:
        pid = pool.submit(os.getpid).result()
        pool.submit(time.sleep, 600)
        pathlib.Path({str(noted)!r}).write_text(str(pid))
        time.sleep(600)
"""
    script = tmp_path / "script.py"
    script.write_text(code)
    main = subprocess.Popen([sys.executable, str(script)])
    wait_until(lambda: noted.exists() and noted.read_text() != "")
    main.kill()
    main.wait()
    wait_until(lambda: not Path("/proc", noted.read_text()).exists())


def test_what_a_living_process_holds_is_not_swept(
    toy: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    target = toy.lake / "hits" / "held.parquet"
    with (
        replacing(target) as file,
        scratch_folder(Path(tempfile.gettempdir()), "evalake-") as folder,
        scratch_folder(toy.corpora, ".", suffix=".tmp") as laid_out,
    ):
        file.write(b"half")
        assert sweep_leftovers(toy) == []
        assert folder.is_dir()
        assert laid_out.is_dir()
    assert target.read_bytes() == b"half"


def wait_until(is_so: object, patience_s: float = 60.0) -> None:
    """Wait for something that another process does."""
    give_up = time.monotonic() + patience_s
    while not is_so():  # type: ignore[operator]
        assert time.monotonic() < give_up
        time.sleep(0.05)
