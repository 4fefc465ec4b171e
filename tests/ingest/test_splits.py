"""Splits: stable per task, in the promised shares, small ones spread over strata."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from evalake_ingest.editions.splits import (
    Assignment,
    Member,
    assign_splits,
    largest_remainder,
)
from evalake_warehouse.identity import task_seed


def members(n: int, strata: int = 3) -> list[Member]:
    return [
        Member(f"t{number}", task_seed("d", f"t{number}"), f"s{number % strata}")
        for number in range(n)
    ]


def by_split(assigned: list[Assignment]) -> dict[str, set[str]]:
    splits: dict[str, set[str]] = {}
    for one in assigned:
        splits.setdefault(one.split, set()).add(one.task_id)
    return splits


def test_about_two_fifths_are_dev_and_no_task_is_in_both() -> None:
    splits = by_split(assign_splits(members(5_000)))
    # A binomial of 5,000 at 0.4 has a standard deviation of 35.
    assert abs(len(splits["dev"]) - 2_000) < 4 * 35
    assert len(splits["dev"]) + len(splits["test"]) == 5_000
    assert not splits["dev"] & splits["test"]


def test_small_splits_have_thirty_tasks_of_their_own_side() -> None:
    splits = by_split(assign_splits(members(500)))
    assert len(splits["small_dev"]) == len(splits["small_test"]) == 30
    assert splits["small_dev"] <= splits["dev"]
    assert splits["small_test"] <= splits["test"]


def test_adding_tasks_and_strata_moves_nobody_between_dev_and_test() -> None:
    before = by_split(assign_splits(members(100, strata=1)))
    after = by_split(assign_splits(members(300, strata=7)))
    assert before["dev"] <= after["dev"]
    assert before["test"] <= after["test"]


def test_the_order_of_tasks_does_not_matter() -> None:
    some = members(80)
    assert by_split(assign_splits(some)) == by_split(assign_splits(some[::-1]))


def test_small_splits_mirror_the_strata() -> None:
    some = members(400, strata=4)
    stratum = {one.task_id: one.stratum for one in some}
    splits = by_split(assign_splits(some))
    whole = Counter(stratum[task] for task in splits["dev"])
    small = Counter(stratum[task] for task in splits["small_dev"])
    for name, count in small.items():
        assert abs(count - 30 * whole[name] / len(splits["dev"])) < 1


def test_largest_remainder_by_hand() -> None:
    # Quotas of 10 seats for 47, 16, 15.8... as whole people: 6.03, 2.05, 1.92 -> 6, 2, 2.
    assert largest_remainder({"a": 47, "b": 16, "c": 15}, 10) == {"a": 6, "b": 2, "c": 2}


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 50)), st.integers(1, 40))
def test_seats_are_all_given_and_never_more_than_members(sizes: dict[str, int], seats: int) -> None:
    given_seats = largest_remainder(sizes, seats)
    assert sum(given_seats.values()) == min(seats, sum(sizes.values()))
    assert all(given_seats[name] <= size for name, size in sizes.items())
