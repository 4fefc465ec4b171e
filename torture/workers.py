"""Workers that are killed under a sweep, as a machine short of memory does."""

from __future__ import annotations

import os
import random
import signal
import threading
import time

from torture.forked import run, start
from torture.kills import compare
from torture.scene import Scene, lake_rows, left_behind, sweep
from torture.table import Counts


def eat_workers(scene: Scene, times: int, chance: random.Random) -> Counts:
    """Kill one worker of a sweep at any moment; the sweep goes on, and `resume` mends the rest."""
    counts = Counts("worker killed")
    scene.restore("dataset")
    calm = run(sweep(), scene.place)
    expected = lake_rows(scene)
    for _ in range(times):
        scene.restore("dataset")
        counts.tried += 1
        running = start(sweep(), scene.place)
        eaten: list[int] = []
        wait_s = chance.uniform(0.0, calm.seconds)
        hunter = threading.Thread(target=_eat_one, args=(running.children, wait_s, eaten))
        hunter.start()
        ended = running.wait()
        hunter.join()
        running.log.unlink(missing_ok=True)
        counts.struck += bool(eaten)
        when = f"a worker killed after {wait_s:.2f} s"
        if ended.orphans:
            counts.fault("orphans", f"{when}: {ended.orphans} alive", ended.orphans)
        if ended.code not in (0, 3):
            counts.fault("wrong end", f"{when}: exit {ended.code}: {ended.said}")
        again = run(sweep("resume"), scene.place)
        if again.code != 0:
            counts.fault("stuck", f"{when}: resume exits {again.code}: {again.said}")
            continue
        try:
            compare(counts, when, lake_rows(scene), expected)
        except AssertionError as error:
            counts.fault("doubled", f"{when}: {error}")
        if left := left_behind(scene):
            counts.fault("left", f"{when}: {', '.join(left[:3])}", len(left))
    return counts


def _eat_one(children: object, wait_s: float, eaten: list[int]) -> None:
    time.sleep(wait_s)
    until = time.monotonic() + 2.0
    while time.monotonic() < until:
        for pid in children():  # type: ignore[operator]
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            eaten.append(pid)
            return
        time.sleep(0.01)
