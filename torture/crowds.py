"""Two of everything at once, on one home."""

from __future__ import annotations

import random

from torture.forked import Work, run, start
from torture.kills import compare
from torture.scene import (
    DATASET,
    IMPORT_DATASET,
    IMPORT_RUN,
    Scene,
    command,
    lake_rows,
    left_behind,
    sweep,
    warehouse_rows,
)
from torture.table import Counts
from torture.works import build, ingest

_READ = command("sql", "select count(*) from fct_run_metrics")
_REPORT = command("leaderboard")
# (name, home, works side by side, what makes the state complete after them, exit codes allowed)
_CROWDS: tuple[tuple[str, str, tuple[Work, ...], Work, frozenset[int]], ...] = (
    ("two sweeps", "dataset", (sweep(), sweep()), sweep("resume"), frozenset({0, 3})),
    ("two ingests", "empty", (ingest, ingest), ingest, frozenset({0})),
    ("two imports", "empty", (command(*IMPORT_DATASET),) * 2, command(*IMPORT_DATASET),
     frozenset({0})),
    ("two rankings", "built", (command(*IMPORT_RUN),) * 2, command(*IMPORT_RUN), frozenset({0})),
    ("two builds, two readers", "changed", (build(), build(), _READ, _REPORT), build(),
     frozenset({0})),
    ("sweep, import, build", "built", (sweep(), command(*IMPORT_RUN), build()), sweep("resume"),
     frozenset({0})),
    ("sweep and removal", "dataset", (sweep(), command("datasets", "remove", DATASET, "--yes")),
     command("datasets", "list"), frozenset({0, 2, 3})),
)  # fmt: skip


def crowd(scene: Scene, times: int, chance: random.Random) -> Counts:
    """Start them within a moment of each other, and compare with one after the other."""
    counts = Counts("two at once")
    expected = {}
    for name, base, works, after, _ in _CROWDS:
        scene.restore(base)
        for work in (*works, after):
            run(work, scene.place)
        expected[name] = lake_rows(scene)
    for _ in range(times):
        name, base, works, after, allowed = chance.choice(_CROWDS)
        scene.restore(base)
        counts.tried += 1
        counts.struck += 1
        at_work = [start(work, scene.place) for work in works]
        for running in at_work:
            ended = running.wait()
            running.log.unlink(missing_ok=True)
            if ended.code not in allowed or "Traceback" in ended.said:
                counts.fault("wrong end", f"{name}: exit {ended.code}: {ended.said}")
            if ended.orphans:
                counts.fault("orphans", f"{name}: {ended.orphans} alive", ended.orphans)
        again = run(after, scene.place)
        if again.code != 0:
            counts.fault("stuck", f"{name}: the next one exits {again.code}: {again.said}")
            continue
        _check(scene, counts, name, expected[name])
    return counts


def _check(scene: Scene, counts: Counts, name: str, expected: dict[str, list[str]]) -> None:
    try:
        found = lake_rows(scene)
        if name == "sweep and removal":  # either may have been first; nothing may be in between
            if not found["tasks"] and found["attempts"]:
                counts.fault("torn", f"{name}: attempts at tasks that are gone")
        else:
            compare(counts, name, found, expected)
        if "build" in name:
            warehouse_rows(scene)
    except AssertionError as error:
        counts.fault("torn", f"{name}: {error}")
    if left := left_behind(scene):
        counts.fault("left", f"{name}: {', '.join(left[:3])}", len(left))
