"""The report: one gathered content, written as HTML, Markdown or JSON; and the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalake_warehouse.charts.save import write_whole
from evalake_warehouse.charts.selection import Selection
from evalake_warehouse.errors import UsageError
from evalake_warehouse.report.leaderboard import leaderboard, printable

__all__ = ["FORMATS", "leaderboard", "printable", "write_report"]

FORMATS = {"html": ".html", "md": ".md", "json": ".json"}


def write_report(
    selections: Sequence[Selection],
    path: Path,
    *,
    format_name: str | None = None,
    name: str | None = None,
) -> Path:
    """Write a report on selections; the format follows the file's ending unless named.

    Raises:
        UsageError: an unknown format, or a folder that cannot be written.
    """
    from evalake_warehouse.report.content import gather

    chosen = format_name or _by_ending(path)
    if chosen not in FORMATS:
        raise UsageError(
            f"no report format {chosen!r}; there are: {', '.join(FORMATS)}", where="--format"
        )
    report = gather(selections, name=name, figures=chosen == "html")
    if chosen == "html":
        from evalake_warehouse.report.page import to_html

        content = to_html(report)
    else:
        from evalake_warehouse.report.plain import to_json, to_markdown

        content = to_markdown(report) if chosen == "md" else to_json(report)
    write_whole(path, content.encode("utf-8", "replace"))
    return path


def _by_ending(path: Path) -> str:
    endings = {ending: name for name, ending in FORMATS.items()} | {".htm": "html"}
    return endings.get(path.suffix.lower(), "html")
