"""The task explorer's data: every task with its gold and every arm's hits."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from evalake_reports.charts.marts import ids
from evalake_reports.charts.selection import Selection
from evalake_reports.report.figures import css_colour
from evalake_reports.report.leaderboard import leaderboard
from evalake_reports.report.packing import MAX_HITS


class HitRow(NamedTuple):
    """What the page has of a hit: columns of `_HITS_SQL`, shown by their names in explorer.js."""

    rank: int
    where: int
    name: int
    score: float | None
    relation: int  # that it matched gold by
    gold_id: int
    credited: int
    text: int


# Fields whose values repeat: stored once, and named by their position.
_WORD_FIELDS = ("where", "name", "relation", "gold_id")

_HITS_SQL = """
    select
        task_id, run_id, rank,
        case
            when path is null then coalesce(doc_id, item_id)
            when start_line is null then path
            else path || ':' || start_line || coalesce('-' || end_line, '')
        end as "where",
        coalesce(qualified_name, title) as name,
        round(score, 4) as score,
        if(relevant, coalesce(relation, 'match'), null) as relation,
        if(relevant, gold_id, null) as gold_id,
        cast(coalesce(credited, false) as integer) as credited,
        text_sha256 as text
    from fct_hits
    where list_contains(?, run_id) and rank <= ?
    order by task_id, run_id, rank
"""

_MAX_QUERY = 6_000
_MAX_CHOICES, _MAX_FILTERS = 60, 5


def explorer_data(selection: Selection) -> dict[str, Any]:
    """Tasks, gold, scores and hits of a selection, with hit texts in full.

    Returns:
        `arms` [{label, colour, control}], `baseline` and `candidate` as positions in it,
        `metric`, `filters` [key, title], `tasks` [{id, query, ..., gold, scores per arm}],
        `hits` {task: {arm: lists}}, `words` and `texts`. A hit is a list of the values of
        `hit_fields`; those of `word_fields` are positions in `words` and `text` is one in
        `texts`, -1 for none.
    """
    arms = list(selection.runs)
    place = {run.run_id: number for number, run in enumerate(arms)}
    tasks = _tasks(selection)
    position = {task["id"]: number for number, task in enumerate(tasks)}
    _add_gold(selection, tasks, position)
    _add_scores(selection, tasks, position, place)
    hits = _Hits(selection)
    baseline, candidate = _pair(selection, place)
    return {
        "arms": [
            {
                "label": selection.labels[run.run_id],
                "colour": css_colour(selection.styles[run.run_id].colour),
                "control": run.is_control,
            }
            for run in arms
        ],
        "baseline": baseline,
        "candidate": candidate,
        "metric": selection.primary_metric,
        "filters": _filters(tasks),
        "tasks": tasks,
        "hit_fields": HitRow._fields,
        "word_fields": _WORD_FIELDS,
        "hits": hits.by_task(position, place),
        "words": hits.words,
        "texts": _texts(selection, hits.texts),
    }


def _pair(selection: Selection, place: Mapping[str, int]) -> tuple[int, int]:
    """The two arms shown first: the baseline (else the second best) and the best other arm."""
    best = [row["run_id"] for row in leaderboard(selection) if row["run_id"] in place]
    controls = {run.run_id for run in selection.runs if run.is_control}
    ranked = [r for r in best if r not in controls] or best
    left = selection.baseline.run_id if selection.baseline else ranked[min(1, len(ranked) - 1)]
    right = next((run_id for run_id in ranked if run_id != left), left)
    return place[left], place[right]


def _tasks(selection: Selection) -> list[dict[str, Any]]:
    first = selection.runs[0]
    found = selection.marts.rows(
        """
        select task_id as id, query, kind, repo, library, qa_type, labels_json
        from dim_tasks
        where
            dataset = ? and edition = ?
            and task_id in (select task_id from fct_task_metrics where list_contains(?, run_id))
        order by task_id
        """,
        first.dataset,
        first.edition,
        ids(selection.runs),
    )
    for task in found:
        if len(task["query"]) > _MAX_QUERY:
            task["query"] = task["query"][:_MAX_QUERY] + "…"
        task["labels"] = _labels(task.pop("labels_json"))
        task["gold"] = []
        task["scores"] = [None] * len(selection.runs)
        task["missing"] = {}
    return found


def _labels(text: str | None) -> dict[str, str]:
    """A task's further labels, those that are plain values."""
    try:
        labels = json.loads(text or "{}")
    except ValueError:
        return {}
    items = labels.items() if isinstance(labels, dict) else ()
    return {key: str(value) for key, value in items if isinstance(value, str | int | float | bool)}


def _filters(tasks: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """(key, title) of what the list can be narrowed by: labels with a few values each."""
    titles = {
        "qa_type": "Question type",
        "repo": "Repository",
        "kind": "Kind",
        "library": "Library",
    }
    keys = dict.fromkeys(key for task in tasks for key in task["labels"])
    for key in keys:
        titles.setdefault(key, key.replace("_", " ").capitalize())
    found = []
    for key, title in titles.items():
        values = {task.get(key) or task["labels"].get(key) for task in tasks} - {None}
        if 1 < len(values) <= _MAX_CHOICES:
            found.append((key, title))
    return found[:_MAX_FILTERS]


def _add_gold(
    selection: Selection, tasks: list[dict[str, Any]], position: Mapping[str, int]
) -> None:
    first = selection.runs[0]
    found = selection.marts.rows(
        """
        select
            gold.task_id, gold.gold_id, gold.level, gold.grade, gold.role,
            list(distinct qrels.relation order by qrels.relation) as relations,
            any_value(qrels.path) as path,
            min(qrels.start_line) as start_line,
            max(qrels.end_line) as end_line,
            any_value(qrels.key) filter (where qrels.relation in ('symbol', 'doc_id')) as name
        from (
            select distinct * exclude (evidence)
            from lake.gold
            where dataset = $1 and edition = $2
        ) as gold
        left join lake.qrels as qrels
            on gold.dataset = qrels.dataset and gold.edition = qrels.edition
            and gold.task_id = qrels.task_id and gold.gold_id = qrels.gold_id
        group by all
        order by gold.task_id, gold.grade desc, gold.gold_id
        """,
        first.dataset,
        first.edition,
    )
    for row in found:
        number = position.get(row["task_id"])
        if number is not None:
            tasks[number]["gold"].append(
                {
                    "id": row["gold_id"],
                    "level": row["level"],
                    "grade": row["grade"],
                    "role": row["role"],
                    "relations": [name for name in row["relations"] or [] if name],
                    "where": _where(row["path"], row["start_line"], row["end_line"]),
                    "name": row["name"],
                }
            )


def _add_scores(
    selection: Selection,
    tasks: list[dict[str, Any]],
    position: Mapping[str, int],
    place: Mapping[str, int],
) -> None:
    found = selection.marts.rows(
        """
        select run_id, task_id, round(value, 4) as value, null_reason
        from fct_task_metrics
        where list_contains(?, run_id) and metric = ?
        """,
        ids(selection.runs),
        selection.primary_metric,
    )
    for row in found:
        number = position.get(row["task_id"])
        if number is None:
            continue
        arm = place[row["run_id"]]
        tasks[number]["scores"][arm] = row["value"]
        if row["value"] is None:
            tasks[number]["missing"][str(arm)] = row["null_reason"] or "no score"


class _Hits:
    """The hits of a selection, and the texts and words that they name by position."""

    def __init__(self, selection: Selection) -> None:
        found = dict(selection.marts.columns(_HITS_SQL, ids(selection.runs), MAX_HITS))
        self._places = list(zip(found.pop("task_id"), found.pop("run_id"), strict=True))
        words: dict[str, int] = {}
        for name in _WORD_FIELDS:
            found[name] = _positions(found[name], words)
        # In the order of their first hit: texts of a task are alike, and pack better side by side.
        texts: dict[str, int] = {}
        found["text"] = _positions(found["text"], texts)
        self._rows = map(HitRow, *(found[name] for name in HitRow._fields))
        self.words = list(words)
        self.texts = list(texts)  # hashes

    def by_task(
        self, position: Mapping[str, int], place: Mapping[str, int]
    ) -> dict[str, dict[str, list[HitRow]]]:
        """Rows by the positions of their task and arm, which are texts as JSON keys are."""
        hits: dict[str, dict[str, list[HitRow]]] = {}
        for (task_id, run_id), row in zip(self._places, self._rows, strict=True):
            if (task := position.get(task_id)) is not None:
                hits.setdefault(str(task), {}).setdefault(str(place[run_id]), []).append(row)
        return hits


def _positions(values: Iterable[str | None], known: dict[str, int]) -> Sequence[int]:
    """Index of each value in `known`, which new values are added to; -1 for None."""
    return [known.setdefault(value, len(known)) if value else -1 for value in values]


def _texts(selection: Selection, wanted: list[str]) -> list[str]:
    """Texts of these hashes, in their order; one that the lake lacks is empty."""
    found = selection.marts.columns(
        """
        select text_sha256, any_value(text) as text
        from lake.texts
        where text_sha256 in (select unnest(cast(? as varchar[])))
        group by text_sha256
        """,
        wanted,
    )
    by_hash = dict(zip(found["text_sha256"], found["text"], strict=True))
    return [by_hash.get(sha256, "") for sha256 in wanted]


def _where(path: str | None, start: int | None, end: int | None) -> str | None:
    if path is None:
        return None
    return path if start is None else f"{path}:{start}" + (f"-{end}" if end is not None else "")
