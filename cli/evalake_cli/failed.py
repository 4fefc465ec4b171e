"""Tasks of a sweep without an answer: the reasons, where the system's output is, and what helps."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evalake_cli.output import say

if TYPE_CHECKING:
    from evalake_runners.engine.cell_run import CellResult
    from evalake_runners.engine.failures import Failure
    from evalake_warehouse.project import Project

Failures = Mapping[str, Sequence["Failure"]]  # by run id


def failures_of(project: Project, results: Sequence[CellResult]) -> Failures:
    """Why tasks of some cells have no answer, those of earlier invocations included."""
    asked = [
        result.run_id
        for result in results
        if result.run_id and (result.n_failed or result.statuses["not_attempted"])
    ]
    if not asked:
        return {}
    from evalake_runners.engine.failures import read_failures
    from evalake_warehouse.lake.reader import list_lake

    return read_failures(list_lake(project.home), asked)


def as_rows(failures: Iterable[Failure]) -> list[dict[str, Any]]:
    """Failures for JSON and tables."""
    return [asdict(failure) for failure in failures]


def tell_failures(
    project: Project, results: Sequence[CellResult], failures: Failures, command: str
) -> None:
    """The most frequent reasons of each cell, its log, and one hint for all of them.

    Args:
        command: the invocation at hand.
    """
    from evalake_runners.engine.failures import told
    from evalake_runners.workers.run_log import log_file

    for result in results:
        if lines := told(failures.get(result.run_id or "", ())):
            say(f"{result.cell.arm.label} on {result.cell.dataset.dataset}: no answer to")
            for line in lines:
                say(f"  {line}")
            log = log_file(project.home, str(result.run_id))
            if log.is_file():
                say(f"  what the system printed, with tracebacks: {log}")
    n_failed = sum(result.n_failed for result in results)
    if n_failed:
        say(f"{n_failed} tasks failed\n\nhint: {_hint(failures, command)}")


def resume_command(command: str) -> str:
    """The same invocation as `evalake resume`."""
    words = shlex.split(command)
    return shlex.join(
        "resume" if word == "run" and "resume" not in words else word for word in words
    )


def _hint(failures: Failures, command: str) -> str:
    failed = [f for of_run in failures.values() for f in of_run if f.status != "not_attempted"]
    resume = resume_command(command)
    if failed and all(failure.is_of_code for failure in failed):
        return (
            "mend the code and give the same command again: edited code is another arm; "
            f"if the cause was outside of it: {resume}"
        )
    if failed and all(failure.status == "timeout" for failure in failed):
        return f"{resume}, with a larger --timeout where tasks take that long"
    return resume
