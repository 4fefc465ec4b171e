"""The report as Markdown and as JSON."""

from __future__ import annotations

import json
import re

from evalake_reports.report.sections import Report
from evalake_reports.report.tables import Table
from evalake_warehouse.jsonable import jsonable
from evalake_warehouse.shown import shown

_ENTITIES = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;"})
_SPACE = re.compile(r"[ \t\r\n]+")
# What Markdown would read as more than a character. Brackets and underscores of plain figures and
# names (`[0.57, 0.80]`, `symbol_scoped`) stay as they are: only a link, or emphasis, needs more.
_MARKS = re.compile(r"[|`*~\\]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])")
_BLOCK = re.compile(r"^(\d*)(?=[-#]|[+.)](?: |$))")


def to_markdown(report: Report) -> str:
    """The report as GitHub-flavoured Markdown, without charts and explorer."""
    lines = [f"# {escape(report.title)}", ""] if report.title else []
    for panel in report.panels:
        level = "##"
        if len(report.panels) > 1 and len(panel.sections) > 1:
            lines += [f"## {escape(panel.title)}", ""]
            level = "###"
        for section in panel.sections:
            lines += [f"{level} {escape(section.title)}", ""]
            lines += [part for text in section.text for part in (_paragraph(text), "")]
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
    """Text as Markdown that shows it literally, on one line, inside a line or a table's cell."""
    line = shown(_SPACE.sub(" ", text).strip())
    return _MARKS.sub(r"\\\g<0>", line).translate(_ENTITIES)


def _paragraph(text: str) -> str:
    """The same at the start of a line, where `#` or `1.` would mean something."""
    return _BLOCK.sub(r"\1\\", escape(text))


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
    return json.dumps(jsonable(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
