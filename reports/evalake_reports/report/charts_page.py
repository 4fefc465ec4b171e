"""Render the table of charts in docs/charts.md from their declarations."""

from __future__ import annotations

from pathlib import Path

from evalake_reports.charts.gallery import CHARTS
from evalake_reports.marked_block import replace_block
from evalake_warehouse.project import find_project_dir

PAGE = Path("docs/charts.md")
START = "<!-- charts: made by `python -m evalake_reports.report.charts_page` -->"
END = "<!-- /charts -->"


def render_charts_page(page: str) -> str:
    """The page with its table as the charts are declared.

    Raises:
        UsageError: the page has no place for the table.
    """
    lines = ["| name | function | shows |", "| --- | --- | --- |"]
    lines += [
        f"| `{chart.name}` | `{chart.function.__name__}` | {chart.shows} |"
        for chart in CHARTS.values()
    ]
    return replace_block(page, START, END, "\n".join(lines), where=str(PAGE))


if __name__ == "__main__":
    file = find_project_dir() / PAGE
    file.write_text(render_charts_page(file.read_text(encoding="utf-8")), encoding="utf-8")
