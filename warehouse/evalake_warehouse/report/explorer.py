"""The task explorer's data: every task with its gold and every arm's hits, compressed."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from typing import Any

from evalake_warehouse.charts.marts import ids
from evalake_warehouse.charts.selection import Selection
from evalake_warehouse.report.figures import css_colour
from evalake_warehouse.report.leaderboard import leaderboard

# (characters of a hit's text, hits of a list) shown: cut further and further until the whole
# fits its share of the page.
_LIMITS = ((1200, 20), (600, 20), (300, 20), (120, 20), (0, 20), (0, 10), (0, 5), (0, 2))
# No such data was seen to shrink more than this, so what is larger need not be tried.
_MAX_RATIO = 25
_MAX_HITS = max(hits for _, hits in _LIMITS)
_MAX_QUERY = 6_000
_MAX_CHOICES, _MAX_FILTERS = 60, 5
BUDGET_BYTES = 1_900_000  # of base64 in the page, all panels together


def explorer_data(selection: Selection) -> dict[str, Any]:
    """Tasks, gold, scores and hits of a selection, with hit texts in full.

    Returns:
        `arms` [{label, colour, control}], `baseline` and `candidate` as positions in it,
        `metric`, `filters` [key, title], `tasks` [{id, query, ..., gold, scores per arm}],
        `hits` {task: {arm: rows}} and `texts`. A hit row is [rank, where, name, score, relation,
        gold id, credited, text]; relation and gold id are None unless it matches, `text` is a
        position in `texts`.
    """
    arms = list(selection.runs)
    place = {run.run_id: number for number, run in enumerate(arms)}
    tasks = _tasks(selection)
    position = {task["id"]: number for number, task in enumerate(tasks)}
    _add_gold(selection, tasks, position)
    _add_scores(selection, tasks, position, place)
    hits, texts = _hits(selection, position, place)
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
        "hits": hits,
        "texts": texts,
    }


def pack(data: Mapping[str, Any], budget: int = BUDGET_BYTES) -> str:
    """The data as base64 of gzipped JSON, texts and lists cut as far as the budget asks for."""
    packed = ""
    for characters, hits in _LIMITS:
        cut = {
            **data,
            "texts": [_cut(text, characters) for text in data["texts"]],
            "hits": {
                task: {arm: rows[:hits] for arm, rows in arms.items()}
                for task, arms in data["hits"].items()
            },
        }
        raw = json.dumps(cut, ensure_ascii=False, separators=(",", ":"))
        if len(raw) > _MAX_RATIO * budget and (characters, hits) != _LIMITS[-1]:
            continue
        # mtime=0: the same data gives the same page.
        squeezed = gzip.compress(raw.encode("utf-8", "replace"), 6, mtime=0)
        packed = base64.b64encode(squeezed).decode()
        if len(packed) <= budget:
            break
    return packed


def _cut(text: str, limit: int) -> list[Any]:
    """[shown text, length of the whole]: the page says how much is missing."""
    return [text[:limit], len(text)]


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


def _hits(
    selection: Selection, position: Mapping[str, int], place: Mapping[str, int]
) -> tuple[dict[str, dict[str, list[list[Any]]]], list[str]]:
    found = selection.marts.rows(
        """
        select run_id, task_id, rank, item_id, title, path, start_line, end_line, doc_id,
            qualified_name, round(score, 4) as score, relevant, relation, gold_id, credited,
            text_sha256
        from fct_hits
        where list_contains(?, run_id) and rank <= ?
        order by task_id, run_id, rank
        """,
        ids(selection.runs),
        _MAX_HITS,
    )
    texts, numbers = _texts(selection, {row["text_sha256"] for row in found} - {None})
    hits: dict[str, dict[str, list[list[Any]]]] = {}
    for row in found:
        task = position.get(row["task_id"])
        if task is None:
            continue
        rows = hits.setdefault(str(task), {}).setdefault(str(place[row["run_id"]]), [])
        where = _where(row["path"], row["start_line"], row["end_line"])
        name = row["qualified_name"] or row["title"]
        rows.append(
            [
                row["rank"],
                where or row["doc_id"] or row["item_id"],
                name,
                row["score"],
                (row["relation"] or "match") if row["relevant"] else None,
                row["gold_id"] if row["relevant"] else None,
                bool(row["credited"]),
                numbers.get(row["text_sha256"], -1),
            ]
        )
    return hits, texts


def _texts(selection: Selection, wanted: set[str]) -> tuple[list[str], dict[str, int]]:
    """Texts of these hashes, and each one's position."""
    found = selection.marts.rows(
        """
        select text_sha256, any_value(text) as text
        from lake.texts
        where text_sha256 in (select unnest(cast(? as varchar[])))
        group by text_sha256
        order by text_sha256
        """,
        sorted(wanted),
    )
    return [row["text"] for row in found], {
        row["text_sha256"]: number for number, row in enumerate(found)
    }


def _where(path: str | None, start: int | None, end: int | None) -> str | None:
    if path is None:
        return None
    return path if start is None else f"{path}:{start}" + (f"-{end}" if end is not None else "")
