"""Which tasks are for tuning and which for the last word.

`dev` and `test` come from a hash of each task alone, so adding tasks or strata moves nobody.
`small_dev` and `small_test` are about 30 tasks of each, spread over the strata by largest
remainder; they alone change when strata are added.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalake_ingest.records import SplitRule

SPLIT_RULE = "hash-threshold"
SPLIT_RULE_VERSION = "1"
SPLIT_SEED = 0
DEV_SHARE = 0.4
SMALL_SIZE = 30


@dataclass(frozen=True, slots=True)
class Member:
    """What a split needs to know of a task."""

    task_id: str
    task_seed: int
    stratum: str | None


@dataclass(frozen=True, slots=True)
class Assignment:
    """One task in one split."""

    task_id: str
    split: str


def assign_splits(
    members: Sequence[Member], *, rule: SplitRule = "hash", seed: int = SPLIT_SEED
) -> list[Assignment]:
    """Every task in `dev` or `test`, and some of them in the small split of that name.

    By the rule `dev` there is no `test`; by `all` there are no splits, and runs take all tasks.
    """
    if rule == "all":
        return []
    if rule == "dev":
        return list(_both(members, "dev", seed))
    dev = [member for member in members if position(member.task_seed, seed) < DEV_SHARE]
    test = [member for member in members if position(member.task_seed, seed) >= DEV_SHARE]
    return [*_both(dev, "dev", seed), *_both(test, "test", seed)]


def position(task_seed: int, seed: int) -> float:
    """A task's place in [0, 1). Hashed anew, so it tells nothing of its bootstrap weights."""
    digest = hashlib.sha256(f"{SPLIT_RULE}\0{seed}\0{task_seed}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def _both(members: Sequence[Member], split: str, seed: int) -> Iterator[Assignment]:
    yield from (Assignment(member.task_id, split) for member in members)
    yield from (Assignment(member.task_id, f"small_{split}") for member in _small(members, seed))


def _small(members: Sequence[Member], seed: int) -> list[Member]:
    strata: defaultdict[str, list[Member]] = defaultdict(list)
    for member in members:
        strata[member.stratum or ""].append(member)
    seats = largest_remainder({name: len(tasks) for name, tasks in strata.items()}, SMALL_SIZE)
    return [
        member
        for name in sorted(strata)
        for member in sorted(
            strata[name], key=lambda one: (position(one.task_seed, seed + 1), one.task_id)
        )[: seats[name]]
    ]


def largest_remainder(sizes: dict[str, int], seats: int) -> dict[str, int]:
    """Share out seats in proportion to sizes: whole parts first, then by largest remainder.

    Equal remainders go to the larger group, then to the first by name. No group gets more
    seats than it has members.
    """
    total = sum(sizes.values())
    if total <= seats:
        return dict(sizes)
    shares = {name: divmod(size * seats, total) for name, size in sizes.items()}
    given = {name: whole for name, (whole, _) in shares.items()}
    order = sorted(sizes, key=lambda name: (-shares[name][1], -sizes[name], name))
    for name in order[: seats - sum(given.values())]:
        given[name] += 1
    return given
