"""What is judged at a time: batches of runs, so that a batch bounds memory and not the lake.

A first build, another rule or another variable changes every run there is. Runs are judged batch by
batch; comparisons follow when all runs are judged, in batches of candidates. The usual build, of a
run or a few, is one batch that does both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb
import pyarrow.parquet as pq

from evalake_warehouse.build.baseline_tables import FrozenWork
from evalake_warehouse.build.freshness import Changes, Member
from evalake_warehouse.lake.reader import LakeListing, relation_sql
from evalake_warehouse.vocabulary import CHANCE_SYSTEMS, DEFAULT_ROLE

# Rows of hits and of metrics that one dbt invocation holds: of a hundred runs of 1,000 tasks x 10
# hits. Its tables then fit in 2 GB, and the 3 s that an invocation costs are a tenth of its work.
ROWS_PER_BATCH = 4_000_000
_METRICS_PER_TASK = 30


@dataclass(frozen=True, slots=True)
class Batch:
    """One dbt invocation's share of a build."""

    run_ids: tuple[str, ...]  # judged in it
    hit_counts: Mapping[str, int]  # of its runs, in the lake
    families: tuple[str, ...] = ()  # whose tests are made, from what is measured by then
    candidates: tuple[str, ...] = ()  # runs whose comparisons with a baseline are measured


def plan_batches(
    listing: LakeListing,
    changes: Changes,
    *,
    members_before: Collection[Member],
    frozen: FrozenWork | None = None,
) -> list[Batch]:
    """Cut a build into batches; one, if everything fits in it.

    All runs come before any comparison, because a family's runs may be spread over batches.

    Args:
        members_before: of families, as the file that is built upon has them.
        frozen: what frozen baselines add.
    """
    frozen = frozen or FrozenWork()
    changed = set(changes.run_ids)
    # What is left of a run that vanished is no run: laid out, it would be judged as one.
    judged = changed.difference(changes.vanished)
    n_hits, n_attempts = (row_counts(listing, table, judged) for table in ("hits", "attempts"))
    scores = {run_id: _METRICS_PER_TASK * n_attempts[run_id] for run_id in changed}
    events = _run_events(listing, judged)
    parts = _cut(
        _in_order(judged, events), {run_id: n_hits[run_id] + scores[run_id] for run_id in judged}
    )
    members = _members(events) | set(members_before)
    families = {member.family for member in members if member.run_id in changed}
    candidates = _candidates(members, families, scores)
    candidates.update({run: _METRICS_PER_TASK * n for run, n in frozen.n_tasks.items()})
    families |= frozen.families
    first, *rest = _cut(sorted(candidates), candidates)
    judging = [Batch(part, {run_id: n_hits[run_id] for run_id in part}) for part in parts]
    judging[-1] = replace(judging[-1], families=tuple(sorted(families)), candidates=first)
    return judging + [Batch((), {}, judging[-1].families, part) for part in rest]


def row_counts(listing: LakeListing, table: str, run_ids: Collection[str]) -> Counter[str]:
    """Rows of a per-run table per run, as the files' footers say."""
    counts: Counter[str] = Counter()
    for file in listing.by_table[table]:
        if file.owner in run_ids:
            counts[file.owner] += pq.read_metadata(file.path).num_rows
    return counts


def _cut(keys: Iterable[str], weights: Mapping[str, int]) -> list[tuple[str, ...]]:
    """Neighbours together while they weigh no more than a batch may; always one part at least."""
    parts: list[list[str]] = [[]]
    total = 0
    for key in keys:
        if parts[-1] and total + weights[key] > ROWS_PER_BATCH:
            parts.append([])
            total = 0
        parts[-1].append(key)
        total += weights[key]
    return [tuple(part) for part in parts]


def _in_order(run_ids: Collection[str], events: Sequence[_Event]) -> list[str]:
    """Finished chance controls first, the latest at the head: the others take chance from it."""
    finished = {event.run_id for event in events if event.event == "finished"}
    controls = {event.run_id for event in events if event.system in CHANCE_SYSTEMS} & finished
    return [*sorted(controls, reverse=True), *sorted(set(run_ids) - controls)]


def _candidates(
    members: Collection[Member], families: Collection[str], scores: Mapping[str, int]
) -> Counter[str]:
    """Candidates of the families, by how many scores are to be compared: none if all are by now."""
    baseline_changed = {
        member.family for member in members if member.role == "baseline" and member.run_id in scores
    }
    most = max(scores.values(), default=0)
    found: Counter[str] = Counter()
    for member in members:
        if member.family in families and member.role == "candidate":
            is_new = member.run_id in scores or member.family in baseline_changed
            found[member.run_id] += scores.get(member.run_id, most) if is_new else 0
    return found


def _members(events: Iterable[_Event]) -> set[Member]:
    return {
        Member(event.run_id, event.family, event.role or DEFAULT_ROLE)
        for event in events
        if event.family is not None and event.event in ("started", "joined")
    }


@dataclass(frozen=True, slots=True)
class _Event:
    run_id: str
    event: str
    system: str
    family: str | None
    role: str | None


def _run_events(listing: LakeListing, run_ids: Collection[str]) -> list[_Event]:
    paths = [file.path for file in listing.by_table["runs"] if file.owner in run_ids]
    sql = f"select run_id, event, system, family, role from ({relation_sql('runs', paths)})"
    with duckdb.connect() as connection:
        return [_Event(*row) for row in connection.execute(sql).fetchall()]
