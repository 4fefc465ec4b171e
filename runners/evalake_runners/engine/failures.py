"""Why tasks of a run have no answer: their reasons, grouped by what they have in common."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import duckdb

from evalake_warehouse.lake.reader import LakeListing, relation_sql
from evalake_warehouse.lake.tries import counted_try
from evalake_warehouse.vocabulary import UNANSWERED, sql_list

MAX_SHOWN = 3  # groups, for a person

# What differs from task to task, and says nothing of the cause.
_PARTICULARS = (
    re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`"),
    re.compile(r"\S*[/\\]\S+"),
    re.compile(r"\b(?=[0-9a-f-]*\d)[0-9a-f][0-9a-f-]{7,}\b", re.IGNORECASE),
    re.compile(r"\b\w*\d[\w.,:-]*"),
)
_PARTICULAR = "…"
_ERROR = re.compile(r"(?:^|: )(?P<name>[A-Za-z_.]*(?:Error|Exception|Warning)\b)")
# Of the code, not of the moment: asked again, the same system fails the same way.
_OF_CODE = frozenset(
    {
        "ArithmeticError", "AssertionError", "AttributeError", "ImportError", "IndexError",
        "KeyError", "LookupError", "ModuleNotFoundError", "NameError", "NotImplementedError",
        "RecursionError", "SyntaxError", "TypeError", "UnboundLocalError", "UnicodeDecodeError",
        "UnicodeEncodeError", "ZeroDivisionError",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Failure:
    """A kind of failure in one run: how many tasks, and the reason of the first."""

    status: str  # of `UNANSWERED`
    n_tasks: int
    reason: str  # of the first of the tasks by id
    n_reasons: int  # different texts of this kind

    def __str__(self) -> str:
        alike = f" (and {self.n_reasons - 1} more like it)" if self.n_reasons > 1 else ""
        return f"{self.n_tasks} {self.status}: {self.reason}{alike}"

    @property
    def is_of_code(self) -> bool:
        """Whether another try would fail too, as far as the reason tells."""
        found = _ERROR.search(self.reason)
        return found is not None and found["name"].rpartition(".")[2] in _OF_CODE


def read_failures(listing: LakeListing, run_ids: Iterable[str]) -> dict[str, list[Failure]]:
    """The failures of some runs, each task by the try that counts; none for a run without any."""
    paths = [
        file.path
        for run_id in run_ids
        for file in listing.by_run.get(run_id, ())
        if file.table == "attempts"
    ]
    if not paths:
        return {}
    found = duckdb.execute(
        f"with t as ({relation_sql('attempts', paths)}) "
        "select run_id, task_id, status, coalesce(reason, status) from t "
        f"qualify {counted_try('run_id, task_id')} and status in {sql_list(UNANSWERED)} "
        "order by run_id, task_id"
    ).fetchall()
    of_run: defaultdict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for run_id, task_id, status, reason in found:
        of_run[run_id].append((task_id, status, reason))
    return {run_id: grouped(tasks) for run_id, tasks in of_run.items()}


def grouped(tasks: Iterable[tuple[str, str, str]]) -> list[Failure]:
    """Failures of (task id, status, reason) in the order of how many tasks have them."""
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for task_id, status, reason in tasks:
        groups[status, _kind(reason, task_id)].append(reason)
    failures = [
        Failure(status, len(reasons), reasons[0], len(set(reasons)))
        for (status, _), reasons in groups.items()
    ]
    return sorted(failures, key=lambda failure: (-failure.n_tasks, failure.status, failure.reason))


def told(failures: Sequence[Failure]) -> list[str]:
    """The failures as lines for a person: the most frequent ones, and how many more there are."""
    lines = [str(failure) for failure in failures[:MAX_SHOWN]]
    if further := failures[MAX_SHOWN:]:
        n_tasks = sum(failure.n_tasks for failure in further)
        lines.append(f"{n_tasks} for {len(further)} other reasons (--json has all)")
    return lines


def _kind(reason: str, task_id: str) -> str:
    """A reason with numbers, paths and quoted texts replaced, equal for alike failures."""
    kind = reason.replace(task_id, _PARTICULAR)
    for particular in _PARTICULARS:
        kind = particular.sub(_PARTICULAR, kind)
    return kind
