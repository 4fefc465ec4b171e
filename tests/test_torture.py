"""The campaigns of `make torture` strike where they say, and see what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from torture.forked import Kill, Place, ask, run
from torture.kills import compare
from torture.table import Counts, show

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, and reads /proc")


def three_files(step: Callable[[str], None]) -> int:
    for name in ("one", "two", "three"):
        step(name)
        Path(f"{name}.tmp").touch()
        os.replace(f"{name}.tmp", name)  # noqa: PTH105 - the call that is counted
        if name != "three":
            time.sleep(0.05)
    return 0


def there(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.name != "tmp"}


def test_a_work_that_nobody_disturbs_tells_its_calls_and_steps(tmp_path: Path) -> None:
    ended = run(three_files, Place(tmp_path))
    assert (ended.code, ended.n_calls, [name for _, name in ended.steps]) == (
        0, 3, ["one", "two", "three"]
    )  # fmt: skip
    assert there(tmp_path) == {"one", "two", "three"}


def test_a_kill_strikes_right_before_the_call_or_after_the_step(tmp_path: Path) -> None:
    ended = run(three_files, Place(tmp_path), Kill(before_call=2))
    assert ended.code == -9
    assert there(tmp_path) == {"one", "two.tmp"}
    ended = run(three_files, Place(tmp_path), Kill(at_step=0, after_s=0.02))
    assert ended.code == -9
    assert "three" not in there(tmp_path)


def test_a_process_that_outlives_its_parent_is_counted_and_ended(tmp_path: Path) -> None:
    def leaves_a_child(_: Callable[[str], None]) -> int:
        sleeper = "import time; time.sleep(600)"
        subprocess.Popen([sys.executable, "-c", sleeper], start_new_session=True)
        return 0

    assert run(leaves_a_child, Place(tmp_path), patience_s=0.2).orphans == 1


def test_a_question_that_fails_says_why(tmp_path: Path) -> None:
    assert ask(lambda: 6 * 7, Place(tmp_path)) == 42
    with pytest.raises(AssertionError, match="no such thing"):
        ask(lambda: {}["no such thing"], Place(tmp_path))


def test_rows_that_are_missing_and_rows_that_are_there_twice_are_counted() -> None:
    counts = Counts("try")
    compare(counts, "now", {"hits": ["a", "b", "b"], "new": []}, {"hits": ["a", "b", "c"]})
    assert dict(counts.wrong) == {"lost": 1, "doubled": 1}
    assert "| try      | 0     | 0      | 1    | 1 " in show([counts])
