"""Report sections on how good the arms are: verdict, completeness, comparisons, breakouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalake_reports.charts.labels import DASH, difference, interval, p_value
from evalake_reports.charts.marts import ids
from evalake_reports.charts.paired_rows import paired_rows
from evalake_reports.charts.selection import Selection
from evalake_reports.report.dataset_facts import (
    completeness_of,
    everyone,
    n_failed,
    not_scored,
    reasons_text,
)
from evalake_reports.report.tables import Column, Section, Table, arm_column, count, number, text
from evalake_warehouse.errors import UsageError
from evalake_warehouse.questions.cautions import COUNTED, is_suspect
from evalake_warehouse.questions.definitions import SHOWN_METRICS
from evalake_warehouse.questions.verdicts import same_lists, suspects
from evalake_warehouse.vocabulary import ATTEMPT_STATUSES

FROZEN = "frozen-"  # begins the name of a section on a frozen baseline
# Shown at once; any other dimension opens on demand.
_OPEN_DIMENSIONS = ("kind", "qa_type", "repo", "library")


def comparisons(selection: Selection, metric: str | None = None) -> list[dict[str, Any]]:
    """Paired rows against the baseline on a metric, best first; none without a baseline."""
    if selection.baseline is None:
        return []
    try:
        found = paired_rows(selection, metric or selection.primary_metric)
    except UsageError:
        return []
    for row in found:
        row["arm"] = row["label"]
    return sorted(found, key=lambda row: -(row["mean_diff"] or 0))


def verdict(selection: Selection, frozen: Sequence[Selection] = ()) -> Section:
    """What may be concluded, in sentences: of the baseline first, then of every frozen one."""
    metric = selection.primary_metric
    found = comparisons(selection)
    lines: list[str] = []
    if selection.baseline is None and frozen:
        lines.append("No run has the role of a baseline; frozen ones there are.")
    elif selection.baseline is None:
        lines.append("No run has the role of a baseline, so nothing is concluded.")
    elif not found:
        name = selection.name(selection.baseline)
        lines.append(f"Nothing was compared with {name} on {metric}, so nothing is concluded.")
    tones = ["insufficient"] * len(lines)
    lines += [_sentence(row, selection, metric) for row in found]
    tones += [row["verdict"] or "insufficient" for row in found]
    for other in frozen:
        rows = comparisons(other)
        lines += [_sentence(row, other, metric) for row in rows]
        tones += [row["verdict"] or "insufficient" for row in rows]
    cautions = warnings(selection)
    return Section(
        "verdict", "Verdict", text=[*lines, *cautions], tones=[*tones, *["warning"] * len(cautions)]
    )


def warnings(selection: Selection) -> list[str]:
    """What a reader must know before trusting any figure, a line each."""
    left_out = {item.run.run_id: item.reason for item in selection.left_out}
    lines = []
    reasons = not_scored(selection)
    for row in completeness_rows(selection):
        arm, missing = row["arm"], reasons[row["run_id"]]
        cautions = selection.cautions[row["run_id"]]
        if row["run_id"] in left_out:
            reason = left_out[row["run_id"]]
            lines.append(f"{arm} is left out of charts and comparisons: it {reason}.")
        elif missing and not is_suspect(cautions):
            n_missing = sum(missing.values())
            rest = (
                "its mean covers the others only"
                if n_missing < row["n_tasks"]
                else "it is neither ranked nor compared"
            )
            lines.append(
                f"{arm} has no score on {n_missing} of {row['n_tasks']} tasks "
                f"({reasons_text(missing)}); {rest}."
            )
        lines += [f"{arm}: {one.text}." for one in cautions if one.code not in COUNTED]
    lines += [f"{_capital(caution.text)}." for caution in selection.shared_cautions]
    return lines


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentence(row: Mapping[str, Any], selection: Selection, metric: str) -> str:
    baseline = selection.name(selection.baseline) if selection.baseline else "the baseline"
    shown = difference(row["mean_diff"], row["diff_low"], row["diff_high"])
    evidence = f"{shown} {metric} on {row['n_pairs']} common tasks, {p_value(row['p_holm'])}"
    arm = row["arm"]
    sentence = {
        "better": f"{arm} is better than {baseline}: {evidence}.",
        "worse": f"{arm} is worse than {baseline}: {evidence}.",
        "no_difference": f"{arm} against {baseline} is no_difference (inside the declared "
        f"margin): {evidence}.",
        "no_effect": f"{arm} and {baseline} returned {same_lists(row)}: what differs between them "
        "has no effect.",
        "suspect": f"{arm} against {baseline} has no verdict ({suspects(row)}): {evidence}.",
    }.get(
        row["verdict"],
        f"{arm} against {baseline} is insufficient (a difference is neither shown nor ruled "
        f"out): {evidence}.",
    )
    # Figures stay whole where a line breaks.
    for part in (shown, p_value(row["p_holm"])):
        sentence = sentence.replace(part, part.replace(" ", "\u00a0"))
    return sentence


def completeness_rows(selection: Selection) -> list[dict[str, Any]]:
    """`fct_run_completeness` with names and the number of failures."""
    found = completeness_of(selection)
    rows = []
    for run in everyone(selection):
        row = dict(found[run.run_id])
        row["arm"] = selection.labels.get(run.run_id, run.arm_label)
        row["status"] = run.status
        row["n_failed"] = n_failed(row)
        rows.append(row)
    return rows


def completeness(selection: Selection) -> Section:
    """Section: attempts, failures and tasks without a score, per arm."""
    columns = [
        arm_column(),
        text("status"),
        count("n_tasks", "tasks"),
        *(count(f"n_{status}", status) for status in ATTEMPT_STATUSES),
        text("suspect"),
    ]
    table = Table("completeness", columns, completeness_rows(selection))
    return Section("completeness", "Completeness", tables=[table])


def paired(selection: Selection) -> Section:
    """Every candidate against the baseline, on the primary metric and the others tested."""
    others = [name for name in SHOWN_METRICS if name in selection.metrics]
    metrics = dict.fromkeys([selection.primary_metric, *others])
    found = [paired_table(selection, metric) for metric in metrics]
    tables = [table for table in found if table is not None]
    text_lines = []
    if selection.baseline is not None and tables:
        name = selection.name(selection.baseline)
        text_lines = [
            f"Candidate minus {name}, on tasks that both were scored on. Intervals are 95 % "
            "paired bootstrap; p is adjusted for the family after Holm; mde is the smallest "
            "difference that the tasks could have shown with 80 % power."
        ]
    elif not tables:
        text_lines = ["There is nothing to compare: no baseline, or no candidate beside it."]
    return Section("paired", "Paired comparisons", text=text_lines, tables=tables)


def against_frozen(place: int, selection: Selection) -> Section:
    """Every arm against a frozen baseline, which is this selection's."""
    section = paired(selection)
    name = selection.name(selection.baseline) if selection.baseline else DASH
    line = (
        "Frozen scores are compared as they stand in their file; their p values are adjusted "
        "apart from those of the family's own baseline."
    )
    return replace(
        section,
        name=f"{FROZEN}{place}",
        title=f"Against {name}",
        text=[*section.text, line] if section.tables else section.text,
    )


def paired_table(selection: Selection, metric: str) -> Table | None:
    """Every candidate against the baseline on one metric; None where nothing was compared."""
    found = comparisons(selection, metric)
    folded = metric != selection.primary_metric
    name = f"paired {metric}"
    columns = _paired_columns()
    return Table(name, columns, found, caption=metric, folded=folded) if found else None


def _paired_columns() -> list[Column]:
    return [
        arm_column("candidate"),
        count("n_pairs", "pairs"),
        Column(
            "difference [95 % interval]",
            lambda row: difference(row["mean_diff"], row["diff_low"], row["diff_high"]),
            align="right",
        ),
        count("only_candidate", "won"),
        count("only_baseline", "lost"),
        Column(
            "p (Holm)",
            lambda row: p_value(row["p_holm"]).removeprefix("p = ").removeprefix("p "),
            align="right",
        ),
        text("verdict"),
        number("mde"),
    ]


def breakouts(selection: Selection) -> Section:
    """The primary metric per value of every dimension that has at least two."""
    found = selection.marts.rows(
        """
        select *
        from fct_run_breakouts
        where list_contains(?, run_id) and metric = ?
        order by dimension, value
        """,
        ids(selection.runs),
        selection.primary_metric,
    )
    dimensions: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        dimensions.setdefault(row["dimension"], []).append(row)
    several = [name for name, rows in dimensions.items() if len({r["value"] for r in rows}) > 1]
    several.sort(key=lambda name: (name not in _OPEN_DIMENSIONS, name))
    tables = [
        breakout_table(selection, name, dimensions[name], folded=name not in _OPEN_DIMENSIONS)
        for name in several
    ]
    lines = [f"{selection.primary_metric} per slice. Slices are small: read the intervals."]
    return Section(
        "breakouts", "Breakouts", text=lines if tables else ["No slices."], tables=tables
    )


def breakout_table(
    selection: Selection,
    dimension: str,
    found: Sequence[Mapping[str, Any]],
    *,
    folded: bool = False,
) -> Table:
    """Mean and interval per arm and value; whichever are more stand in rows."""
    values = sorted({str(row["value"]) for row in found})
    runs = [run for run in selection.runs if any(row["run_id"] == run.run_id for row in found)]
    cells = {(row["run_id"], str(row["value"])): dict(row) for row in found}
    largest = {
        value: max(row["n_scored"] or 0 for row in found if str(row["value"]) == value)
        for value in values
    }
    name = f"by {dimension}"
    if len(values) > len(runs):
        rows: list[dict[str, Any]] = [
            {
                "value": value,
                "n": largest[value],
                "cells": {run.run_id: cells.get((run.run_id, value)) for run in runs},
            }
            for value in values
        ]
        columns = [
            text("value", dimension),
            count("n"),
            *[_cell_column(run.run_id, selection.labels[run.run_id]) for run in runs],
        ]
    else:
        rows = [
            {
                "arm": selection.labels[run.run_id],
                "run_id": run.run_id,
                "cells": {value: cells.get((run.run_id, value)) for value in values},
            }
            for run in runs
        ]
        columns = [
            arm_column(),
            *[_cell_column(value, f"{value} (n = {largest[value]})") for value in values],
        ]
    return Table(name, columns, rows, caption=name, folded=folded)


def _cell_column(key: str, title: str) -> Column:
    def write(row: Mapping[str, Any]) -> str:
        cell = row["cells"].get(key)
        return DASH if cell is None else interval(cell["mean"], cell["ci_low"], cell["ci_high"])

    return Column(title, write, align="right")
