"""A wall clock that jumps between commands, back and forth."""

from __future__ import annotations

import random
import sys
import time
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from typing import Any

from torture.forked import ask, run
from torture.kills import compare
from torture.scene import IMPORT_RUN, Scene, command, lake_rows, left_behind, sweep
from torture.table import Counts
from torture.works import build

_YEAR_S = 365 * 86_400.0
_STEPS = (
    ("sweep", sweep()),
    ("import", command(*IMPORT_RUN)),
    ("sweep again", command("run", "sweep.yaml", "--confirm", "torture", "--seed", "1")),
)


def clock_goes_back(scene: Scene, times: int, chance: random.Random) -> Counts:
    """Each command finds the clock somewhere else; what came last is the latest all the same."""
    counts = Counts("clock")
    expected = _all(scene, [0.0] * len(_STEPS), counts)
    for number in range(times):
        offsets = [chance.uniform(-2, 2) * _YEAR_S for _ in _STEPS]
        found = _all(scene, offsets, counts)
        counts.tried += 1
        counts.struck += offsets[0] > offsets[1] or offsets[1] > offsets[2]
        days = ", ".join(f"{offset / 86_400:+.0f}" for offset in offsets)
        when = f"clock set by {days} days"
        compare(counts, when, found, expected)
        if (latest := _latest(scene)) != "random":  # the last arm of the last sweep
            counts.fault("wrong end", f"{when}: the latest run is {latest}")
        if number % 10 == 0:  # costly, and much the same each time
            _build(scene, offsets[0], when, counts)
    return counts


def _all(scene: Scene, offsets: list[float], counts: Counts) -> dict[str, list[str]]:
    scene.restore("dataset")
    for (name, work), offset in zip(_STEPS, offsets, strict=True):
        ended = run(work, replace(scene.place, prepare=lambda offset=offset: _shift(offset)))
        if ended.code != 0:
            counts.fault("stuck", f"{name} at {offset:+.0f} s exits {ended.code}: {ended.said}")
    if left := left_behind(scene):
        counts.fault("left", f"clock: {', '.join(left[:3])}", len(left))
    return lake_rows(scene)


def _build(scene: Scene, offset: float, when: str, counts: Counts) -> None:
    for _ in range(2):
        ended = run(build(), replace(scene.place, prepare=lambda: _shift(offset)))
        if ended.code != 0:
            counts.fault("stuck", f"{when}: build exits {ended.code}: {ended.said}")


def _latest(scene: Scene) -> str:
    def question() -> str:
        import pyarrow.parquet as pq

        from evalake_warehouse.lake.reader import list_lake

        files = list_lake(scene.home).paths("runs")
        events = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
        return str(max(events, key=lambda row: row["run_id"])["arm_label"])

    return ask(question, scene.place)


def _shift(offset_s: float) -> None:
    """Set the clock of this process, as far as Python is asked for the time."""
    real_time, real_ns = time.time, time.time_ns

    class Shifted(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Any:
            return datetime.now(tz) + timedelta(seconds=offset_s)

    time.time = lambda: real_time() + offset_s
    time.time_ns = lambda: real_ns() + int(offset_s * 1e9)
    for name, module in list(sys.modules.items()):
        if name.startswith("evalake_") and getattr(module, "datetime", None) is datetime:
            module.datetime = Shifted  # type: ignore[attr-defined]
