"""The report as Markdown and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from evalake_warehouse.report.content import Report
from evalake_warehouse.report.tables import Table

_SPECIAL = str.maketrans(
    {
        "|": "\\|",
        "<": "&lt;",
        ">": "&gt;",
        "&": "&amp;",
        "\n": " ",
        "\r": " ",
        "`": "\\`",
        "*": "\\*",
        "_": "\\_",
        "[": "\\[",
        "]": "\\]",
        "\\": "\\\\",
    }
)


def to_markdown(report: Report) -> str:
    """The report as GitHub-flavoured Markdown, without charts and explorer."""
    lines = [f"# {escape(report.title)}", ""]
    for panel in report.panels:
        if len(report.panels) > 1:
            lines += [f"## {escape(panel.title)}", ""]
        level = "###" if len(report.panels) > 1 else "##"
        for section in panel.sections:
            lines += [f"{level} {escape(section.title)}", ""]
            lines += [part for text in section.text for part in (escape(text), "")]
            for table in section.tables:
                lines += [*markdown_table(table), ""]
    return "\n".join(lines).rstrip() + "\n"


def markdown_table(table: Table) -> list[str]:
    """A table's lines; numbers align right."""
    lines = [f"**{escape(table.caption)}**", ""] if table.caption else []
    lines.append("| " + " | ".join(escape(column.title) for column in table.columns) + " |")
    rules = ["---:" if column.align == "right" else "---" for column in table.columns]
    lines.append("| " + " | ".join(rules) + " |")
    for row in table.rows:
        cells = [escape(column.write(row)) for column in table.columns]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def escape(text: str) -> str:
    """Text as Markdown that shows it literally, on one line."""
    return text.translate(_SPECIAL)


def to_json(report: Report) -> str:
    """The report as JSON: every section with its text and its tables' raw rows."""
    value = {
        "title": report.title,
        "panels": [
            {
                "title": panel.title,
                "dataset": panel.selection.runs[0].dataset,
                "edition": panel.selection.runs[0].edition,
                "split": panel.selection.runs[0].split,
                "n_tasks": panel.selection.n_tasks,
                "primary_metric": panel.selection.primary_metric,
                "sections": [
                    {
                        "name": section.name,
                        "text": list(section.text),
                        "tables": {table.name: list(table.rows) for table in section.tables},
                    }
                    for section in panel.sections
                ],
            }
            for panel in report.panels
        ],
    }
    return json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)
