"""What an import tells of a ranking's quality, so that its scores are not misread."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from evalake_ingest.rankings.answers import Ranking
from evalake_warehouse.project import Project
from evalake_warehouse.questions.definitions import metric_definitions


def order_note(ranking: Ranking) -> str | None:
    """In how many lists scores contradict the ranks that the file tells; None where in none."""
    longer = [order for order in ranking.orders if len(order) > 1]
    against = [order for order in longer if _contradict(order)]
    if not against:
        return None
    reversed_ = sum(_is_reversed(order) for order in against)
    is_by_score = ranking.source_format != "jsonl"
    rule = "the scores decide, as in trec_eval" if is_by_score else "the order of the hits decides"
    if reversed_ == len(against):
        ask = "are these distances?"
        if is_by_score:
            ask += " If so, negate them: where smaller is better, these ranks are upside down"
        return (
            f"in {reversed_} of {len(longer)} lists the scores rise from rank to rank; "
            f"{rule}; {ask}"
        )
    return f"in {len(against)} of {len(longer)} lists the ranks are not those of the scores; {rule}"


def short_list_note(
    project: Project, metric: str, depth: int, *, asked: int | None, is_declared_here: bool
) -> str | None:
    """That lists end before the cutoff of the primary metric, and which flag helps.

    Args:
        asked: what `--depth` said, if anything.
        is_declared_here: whether the import also makes the dataset, so that it takes `--metric`.
    """
    metrics = {row["metric"]: row for row in metric_definitions(project)}
    row = metrics.get(metric)
    if row is None or not row["cutoff"] or depth >= int(row["cutoff"]):
        return None
    cutoff = int(row["cutoff"])
    nearer = [
        name
        for name, other in metrics.items()
        if other["measure"] == row["measure"] and other["cutoff"] and int(other["cutoff"]) <= depth
    ]
    hits = "hit" if depth == 1 else "hits"
    why = f"the depth is {asked}" if asked else f"the longest list has {depth} {hits}"
    helps = [] if asked else [f"--depth {cutoff}, if {cutoff} were asked for"]
    if nearer and is_declared_here:
        nearest = max(nearer, key=lambda name: int(metrics[name]["cutoff"]))
        helps.append(f"--metric {nearest}")
    told = f": add {', or '.join(helps)}" if helps else ""
    return f"{why}, so {metric} cannot be scored{told}"


def _contradict(order: Sequence[tuple[int, float]]) -> bool:
    """Whether a better rank ever has a worse score; equal scores contradict nothing."""
    scores = [score for _, score in sorted(order)]
    return any(one < other for one, other in pairwise(scores))


def _is_reversed(order: Sequence[tuple[int, float]]) -> bool:
    scores = [score for _, score in sorted(order)]
    return scores == sorted(scores)
