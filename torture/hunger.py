"""Disks that are full at any write: a small file system, or a limit on the size of a file."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from torture.forked import Ended, run
from torture.kills import Campaign, compare
from torture.scene import Scene, left_behind
from torture.table import Counts
from torture.works import campaigns

_TOLD = re.compile(r"(?i)no space|too large|disk|full|written|write")


def limit_files(scene: Scene, times: int, chance: random.Random) -> Counts:
    """No file may grow beyond a size, which is somewhere below what the work needs."""
    counts = Counts("file size limit")
    known = {campaign.name: _expected(scene, campaign) for campaign in _works()}
    for _ in range(times):
        campaign = chance.choice(_works())
        expected, largest = known[campaign.name]
        scene.restore(campaign.base)
        limit = int(largest ** chance.uniform(0.3, 1.0))
        ended = run(campaign.work, replace(scene.place, max_file_bytes=limit))
        when = f"{campaign.name} with files of {limit} bytes"
        _judge(scene, campaign, counts, when, ended=ended, expected=expected)
    return counts


def fill_disk(scene: Scene, times: int, chance: random.Random) -> Counts:
    """The home is a file system with some room, which is less than the work needs."""
    counts = Counts("disk full")
    if not _may_mount():
        counts.examples.append("disk full: not run, it takes the right to mount a file system")
        return counts
    known = {campaign.name: _expected(scene, campaign) for campaign in _works()}
    for _ in range(times):
        campaign = chance.choice(_works())
        expected, _largest = known[campaign.name]
        scene.restore(campaign.base)
        used = sum(file.stat().st_size for file in scene.home.rglob("*") if file.is_file())
        room = int(4_000_000 ** chance.uniform(0.5, 1.0))
        with _small(scene, used + used // 2 + room):
            ended = run(campaign.work, scene.place)
        when = f"{campaign.name} with {room} bytes of room"
        _judge(scene, campaign, counts, when, ended=ended, expected=expected)
    return counts


def _works() -> list[Campaign]:
    known = campaigns()
    return [known[name] for name in ("sweep", "ingest", "import dataset", "import run",
                                     "build one run")]  # fmt: skip


def _expected(scene: Scene, campaign: Campaign) -> tuple[dict[str, object], int]:
    """What the work makes, and the size of the largest file that it writes."""
    scene.restore(campaign.base)
    ended = run(campaign.work, scene.place)
    if ended.code != 0:
        raise AssertionError(f"{campaign.name} fails undisturbed: {ended.said}")
    sizes = [file.stat().st_size for file in scene.home.rglob("*") if file.is_file()]
    return dict(campaign.content(scene)), max(sizes)


def _judge(
    scene: Scene,
    campaign: Campaign,
    counts: Counts,
    when: str,
    *,
    ended: Ended,
    expected: dict[str, object],
) -> None:
    counts.tried += 1
    counts.struck += ended.code != 0
    if ended.orphans:
        counts.fault("orphans", f"{when}: {ended.orphans} alive", ended.orphans)
    if ended.code not in (0, 2, 3) or "Traceback" in ended.said:
        counts.fault("wrong end", f"{when}: exit {ended.code}: {ended.said}")
    elif ended.code == 2 and not _TOLD.search(ended.said):
        counts.fault("wrong end", f"{when}: the cause is not told: {ended.said}")
    again = run(campaign.again, scene.place)
    if again.code != 0:
        counts.fault("stuck", f"{when}: the next one exits {again.code}: {again.said}")
        return
    try:
        compare(counts, when, campaign.content(scene), expected)
    except AssertionError as error:
        counts.fault("torn", f"{when}: {error}")
    if left := left_behind(scene):
        counts.fault("left", f"{when}: {', '.join(left[:3])}", len(left))


def _may_mount() -> bool:
    return shutil.which("mount") is not None and Path("/proc/self/status").exists() and _is_root()


def _is_root() -> bool:
    import os

    return os.geteuid() == 0


@contextmanager
def _small(scene: Scene, size: int) -> Iterator[None]:
    """The home on a file system of that size while the block runs, and back on disk after it."""
    aside = scene.folder / "aside"
    scene.home.rename(aside)
    scene.home.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(scene.home)], check=True
    )
    try:
        shutil.copytree(aside, scene.home, dirs_exist_ok=True, symlinks=True)
        shutil.rmtree(aside)
        yield
        shutil.copytree(scene.home, aside, symlinks=True)
    finally:
        subprocess.run(["umount", "-l", str(scene.home)], check=True)
    scene.home.rmdir()
    aside.rename(scene.home)
