"""What an import tells of a ranking's quality, so that its scores are not misread."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
    project: Project,
    metric: str,
    depth: int,
    *,
    longest: int,
    asked: int | None,
    is_declared_here: bool,
) -> str | None:
    """That lists end before the cutoff of the primary metric, and which flag helps.

    Args:
        depth: hits that each list is taken to have been asked for; never 0.
        longest: hits of the longest list.
        asked: what `--depth` said, if anything.
        is_declared_here: whether the import also makes the dataset, so that it takes `--metric`.
    """
    name, _, cut = metric.partition(":")[0].partition("@")
    if not cut.isdecimal() or depth >= int(cut):
        return None
    cutoff = int(cut)
    nearer = {
        row["metric"]: int(row["cutoff"])
        for row in metric_definitions(project)
        if row["metric"].partition("@")[0] == name and row["cutoff"] and int(row["cutoff"]) <= depth
    }
    hits = "hit" if longest == 1 else "hits"
    length = f"the longest list has {longest} {hits}" if longest else "no list has a hit"
    why = f"the depth is {asked}" if asked else length
    helps = [] if asked else [f"--depth {cutoff}, if {cutoff} were asked for"]
    if nearer and is_declared_here:
        helps.append(f"--metric {max(nearer, key=lambda metric: nearer[metric])}")
    told = f": add {', or '.join(helps)}" if helps else ""
    return f"{why}, so {metric} cannot be scored{told}"


def identical_ids_note(
    task_ids: Collection[str], documents: Collection[str], ranking: Ranking | None
) -> str | None:
    """That documents have the ids of tasks, and which flag leaves them out; None where none has.

    Args:
        documents: ids of the corpora's documents, as far as they are at hand.
    """
    helps = "if it is the query itself, import the dataset with --ignore-identical-ids"
    answers = ranking.answers if ranking else {}
    lists = {name: answer for name, answer in answers.items() if name in task_ids and answer.hits}
    n_lists = sum(any(hit.doc_id == name for hit in answer.hits) for name, answer in lists.items())
    if n_lists:
        return (
            f"{n_lists} of {len(lists)} lists hold the document that has the id of their query; "
            f"{helps}"
        )
    if n_tasks := len(set(task_ids) & set(documents)):
        return f"{n_tasks} of {len(task_ids)} queries have the id of a document; {helps}"
    return None


def _contradict(order: Sequence[tuple[int, float]]) -> bool:
    """Whether a better rank ever has a worse score; equal scores contradict nothing."""
    scores = [score for _, score in sorted(order)]
    return any(one < other for one, other in pairwise(scores))


def _is_reversed(order: Sequence[tuple[int, float]]) -> bool:
    scores = [score for _, score in sorted(order)]
    return scores == sorted(scores)
