"""Kill a piece of work anywhere, look at what readers see, do it again, and compare."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torture.forked import Ended, Kill, Work, run
from torture.scene import Scene, left_behind
from torture.table import Counts


@dataclass(frozen=True)
class Campaign:
    """One kind of work that is killed."""

    name: str
    base: str  # the saved home that it begins with
    work: Work
    again: Work  # what a user does after a kill; must end well
    content: Callable[[Scene], Mapping[str, object]]  # what the work is to make
    is_atomic: bool = False  # a reader sees the state before or after, and nothing between
    share: float = 1.0  # of the kills asked for; costly work gets fewer


def kill_often(scene: Scene, campaign: Campaign, times: int, chance: random.Random) -> Counts:
    """Kill the work `times` times, each at another point, from the same beginning."""
    counts = Counts(f"kill {campaign.name}")
    calm, before, after = _calm(scene, campaign)
    for _ in range(max(1, round(times * campaign.share))):
        scene.restore(campaign.base)
        kill = _anywhere(calm, chance)
        ended = run(campaign.work, scene.place, kill)
        counts.tried += 1
        counts.struck += ended.code == -9
        if ended.orphans:
            counts.fault("orphans", f"{ended.orphans} alive after {kill}", ended.orphans)
        if ended.code not in (-9, 0):
            counts.fault("wrong end", f"exit {ended.code} after {kill}: {ended.said}")
        if campaign.is_atomic:
            _look(scene, campaign, counts, kill, (before, after))
        _finish(scene, campaign, counts, f"after {kill}", after)
    return counts


def _calm(
    scene: Scene, campaign: Campaign
) -> tuple[Ended, Mapping[str, object] | None, Mapping[str, object]]:
    """How long the work takes undisturbed, and what is there before and after it.

    Raises:
        AssertionError: it fails without any disturbance.
    """
    scene.restore(campaign.base)
    before = campaign.content(scene) if campaign.is_atomic else None
    calm = run(campaign.work, scene.place)
    if calm.code != 0:
        raise AssertionError(f"{campaign.name} fails undisturbed: {calm.code}\n{calm.said}")
    return calm, before, campaign.content(scene)


def _anywhere(calm: Ended, chance: random.Random) -> Kill:
    """A third by the clock, a third between two changes of files, a third in a step, often late."""
    way = chance.choice(("clock", "call", "step" if calm.steps else "call"))
    if way == "clock":
        return Kill(after_s=chance.uniform(0.0, calm.seconds * 1.05))
    if way == "call":
        return Kill(before_call=chance.randint(1, max(1, calm.n_calls)))
    last = len(calm.steps) - 1
    step = chance.choice((chance.randint(0, last), max(0, last - chance.randint(0, 3))))
    ends = calm.steps[step + 1][0] if step < last else calm.seconds
    return Kill(at_step=step, after_s=chance.uniform(0.0, ends - calm.steps[step][0]))


def _look(
    scene: Scene,
    campaign: Campaign,
    counts: Counts,
    kill: Kill,
    allowed: tuple[Mapping[str, object] | None, Mapping[str, object]],
) -> None:
    try:
        seen = campaign.content(scene)
    except AssertionError as error:
        counts.fault("unreadable", f"after {kill}: {error}")
        return
    if seen not in allowed:
        counts.fault("torn", f"after {kill}: a reader sees neither the old nor the new")


def _finish(
    scene: Scene, campaign: Campaign, counts: Counts, when: str, expected: Mapping[str, object]
) -> None:
    """Do what a user does next, and compare with what was never disturbed."""
    ended = run(campaign.again, scene.place)
    if ended.code != 0:
        counts.fault("stuck", f"{when} the next one exits {ended.code}: {ended.said}")
        return
    try:
        compare(counts, when, campaign.content(scene), expected)
    except AssertionError as error:
        kind = "doubled" if "twice" in str(error) else "torn"
        counts.fault(kind, f"{when}: {error}")
    if left := left_behind(scene):
        counts.fault("left", f"{when}: {', '.join(left[:3])}", len(left))


def compare(
    counts: Counts, when: str, found: Mapping[str, object], expected: Mapping[str, object]
) -> None:
    """Note rows that are missing, and rows that are there too often."""
    for name in sorted(found.keys() | expected.keys()):
        there, wanted = _bag(found.get(name)), _bag(expected.get(name))
        if lost := wanted - there:
            counts.fault("lost", f"{when}: {name}: {next(iter(lost))}", lost.total())
        if doubled := there - wanted:
            counts.fault("doubled", f"{when}: {name}: {next(iter(doubled))}", doubled.total())


def _bag(rows: object) -> Counter[str]:
    return Counter() if rows is None else Counter(rows if isinstance(rows, list) else [str(rows)])
