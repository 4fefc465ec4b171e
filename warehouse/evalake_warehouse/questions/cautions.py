"""What to know of a run before its figures are believed: one function, and one place of words.

The facts of a single run are rows of `fct_run_cautions`. What depends on other runs, or on what was
ingested since, is asked when it is read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from evalake_warehouse.questions.definitions import enough_depth
from evalake_warehouse.questions.open_warehouse import rows
from evalake_warehouse.questions.pending import mark_behind
from evalake_warehouse.vocabulary import ONE_TEXT

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from evalake_warehouse.questions.baseline import Baseline
    from evalake_warehouse.questions.runs import Run

_SUSPECT_REASONS: Mapping[str, str] = {
    "nothing_attempted": "nothing was attempted",
    "all_failed": "every task that was attempted failed",
    "no_comparable_output": "its answers cannot be compared with the gold",
    "all_empty": "every answer was empty",
    "all_zero": "every score is 0",
}
_OF_TASKS = {
    "not_attempted": "were not attempted",
    "failed": "failed",
    "evidence_lost": "are not scored, because evidence is gone from the lake",
}
# Told already where tasks without a score are counted by their reason.
COUNTED = frozenset({*_OF_TASKS, "beyond_depth"})


@dataclass(frozen=True, slots=True)
class Caution:
    """One thing to know, with the figures in it."""

    code: str  # as in `fct_run_cautions`, or older_edition, behind, repeats, unequal_depth, ...
    text: str  # without a full stop
    metric: str | None = None  # that alone it concerns
    n: int | None = None
    of_n: int | None = None
    detail: str | None = None
    is_suspect: bool = False  # no verdict is given on the run

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def run_cautions(
    connection: DuckDBPyConnection, run_ids: Sequence[str], metrics: Collection[str] | None = None
) -> dict[str, list[Caution]]:
    """The cautions of each run, those that allow no verdict first; an empty list for none.

    Args:
        metrics: leave out what concerns other metrics. One is named where several have the same
            fault: the first in this order.
    """
    found: dict[str, list[Caution]] = {run_id: [] for run_id in run_ids}
    mark_behind(connection)
    for row in rows(connection, _FACTS, {"run_ids": list(run_ids)}):
        if row["metric"] is None or metrics is None or row["metric"] in metrics:
            values = {name: row[name] for name in ("metric", "n", "of_n", "detail")}
            caution = Caution(
                row["caution"], _text(row), is_suspect=bool(row["is_suspect"]), **values
            )
            found[row["run_id"]].append(caution)
    if metrics is not None:
        order = {metric: place for place, metric in enumerate(metrics)}
        found = {run_id: _first_of_each(told, order) for run_id, told in found.items()}
    return found


def frozen_cautions(baseline: Baseline) -> list[Caution]:
    """The cautions of a frozen baseline, from what its file holds."""
    found = [_suspect(baseline.suspect_reason)] if baseline.suspect_reason else []
    if baseline.failed:
        n, of_n = len(baseline.failed), len(baseline.tasks)
        text = f"{n} of {of_n} tasks {_OF_TASKS['failed']}"
        found.append(Caution("failed", text, n=n, of_n=of_n))
    return found


def depth_cautions(runs: Mapping[str, Run]) -> list[Caution]:
    """What to know where these runs, by the name they are shown under, stand side by side."""
    depths = {name: run.depth for name, run in runs.items() if run.depth and not _is_text(run)}
    lists = len(set(depths.values()))
    if lists < 2:
        return []
    by_depth: dict[int, list[str]] = {}
    for name, depth in depths.items():
        by_depth.setdefault(depth, []).append(name)
    told = "; ".join(f"{', '.join(by_depth[depth])}: {depth}" for depth in sorted(by_depth))
    text = (
        f"unequal depth, hits asked for: {told}. Metrics over distinct files, and those without a "
        "cutoff, favour the deeper list"
    )
    return [Caution("unequal_depth", text, detail=told)]


def same_list_cautions(
    connection: DuckDBPyConnection, names: Mapping[str, str]
) -> dict[str, list[Caution]]:
    """Per run, those others that returned the same list on every task that both answered.

    Args:
        names: what the runs are shown as, by run id.
    """
    found: dict[str, list[Caution]] = {run_id: [] for run_id in names}
    for row in rows(connection, _SAME_LISTS, {"run_ids": list(names)}):
        n, other = row["n"], names[row["other_id"]]
        text = f"the same list as {other} on {n} of {n} tasks: what differs had no effect"
        found[row["run_id"]].append(Caution("same_lists", text, n=n, of_n=n, detail=other))
    return found


def is_suspect(cautions: Sequence[Caution]) -> bool:
    """Whether no verdict may be given."""
    return any(caution.is_suspect for caution in cautions)


def suspect_text(reason: str) -> str:
    """A `suspect_reason` in words."""
    return _SUSPECT_REASONS[reason]


def _suspect(reason: str) -> Caution:
    return Caution(reason, f"suspect, no verdict: {_SUSPECT_REASONS[reason]}", is_suspect=True)


def _text(row: Mapping[str, Any]) -> str:  # noqa: PLR0911 - one return per caution
    code, n, of_n, metric, detail = (
        row[name] for name in ("caution", "n", "of_n", "metric", "detail")
    )
    if code in _SUSPECT_REASONS:
        return _suspect(code).text
    if code in _OF_TASKS:
        return f"{n} of {of_n} tasks {_OF_TASKS[code]}"
    match code:
        case "unfinished":
            return f"unfinished: {n} of {of_n} tasks were not attempted"
        case "unresolved_paths":
            return f"{n} of {of_n} answered paths are in no file of the corpus"
        case "silent_branches":
            named = f"branch{'es' if n > 1 else ''} {detail.replace(', ', ' and ')}"
            return f"no hit came from {named}; the scores are those of the other branches"
        case "truncated":
            depth = max(enough_depth(metric), 2 * int(detail))
            return (
                f"{n} of {of_n} lists ran out of distinct files before the cutoff of {metric}, "
                f"which is a lower bound; ask for depth {depth}"
            )
        case "beyond_depth":
            return f"{metric} is not scored: only {detail} hits were asked for"
        case "older_edition":
            return f"judged by edition {row['edition'][:8]}, and {detail[:8]} is the latest"
        case "behind":
            return "judged without its latest evidence or gold; build again"
    return f"repeat {n} of {of_n} of the same arm; its figures are of this repeat alone"


def _first_of_each(cautions: list[Caution], order: Mapping[str, int]) -> list[Caution]:
    """Cautions with one per code: where several metrics have it, that of the first metric."""
    kept: dict[str, Caution] = {}
    for caution in cautions:
        known = kept.get(caution.code)
        if known is None or order[caution.metric or ""] < order[known.metric or ""]:
            kept[caution.code] = caution
    return list(kept.values())


def _is_text(run: Run) -> bool:
    """Whether the arm answers with one text, whose depth is 1 by definition."""
    return run.output in ONE_TEXT


_FACTS = """
with runs as (
    select *
    from dim_runs
    where list_contains($run_ids, run_id)
),

facts as (
    select
        run_id,
        caution,
        metric,
        n,
        of_n,
        detail,
        is_suspect
    from fct_run_cautions
    where list_contains($run_ids, run_id)
    union all
    select
        runs.run_id,
        'older_edition',
        null,
        null,
        null,
        latest.edition,
        false
    from runs
    inner join dim_editions as latest
        on runs.dataset = latest.dataset
        and latest.is_latest
    where runs.edition != latest.edition
    union all
    select
        runs.run_id,
        'repeats',
        null,
        runs.repeat,
        count(distinct others.repeat),
        null,
        false
    from runs
    inner join dim_runs as others
        on runs.arm_hash = others.arm_hash
        and runs.dataset = others.dataset
        and runs.edition = others.edition
        and runs.split = others.split
        and runs.seed = others.seed
    group by runs.run_id, runs.repeat
    having count(distinct others.repeat) > 1
    union all
    select
        runs.run_id,
        'behind',
        null,
        null,
        null,
        null,
        false
    from runs
    where runs.run_id in (select run_id from runs_behind)
)

select
    facts.*,
    runs.edition
from facts
inner join runs on facts.run_id = runs.run_id
order by facts.run_id, facts.is_suspect desc, facts.metric nulls first, facts.caution
"""

_SAME_LISTS = """
with lists as (
    select run_id, task_id, list_digest
    from fct_task_lists
    where list_contains($run_ids, run_id) and list_digest is not null
)

select
    lists.run_id,
    others.run_id as other_id,
    count(*) as n
from lists
inner join lists as others
    on lists.task_id = others.task_id
    and lists.run_id != others.run_id
group by lists.run_id, others.run_id
having count(*) = count(*) filter (where lists.list_digest = others.list_digest)
order by lists.run_id, others.run_id
"""
