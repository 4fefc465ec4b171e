"""The report: one gathered content, written as HTML, Markdown or JSON; and the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from evalake_reports.charts.save import write_whole
from evalake_reports.charts.selection import Selection
from evalake_reports.report.leaderboard import has_rank, leaderboard, printable
from evalake_warehouse.errors import UsageError

__all__ = [
    "FORMATS",
    "has_rank",
    "leaderboard",
    "printable",
    "render_report",
    "report_format",
    "write_report",
]

FORMATS = {"html": (".html", ".htm"), "md": (".md", ".markdown"), "json": (".json",)}


def report_format(path: Path | None, format_name: str | None = None) -> str:
    """The format that a name says, else the file's ending, else HTML.

    Raises:
        UsageError: a format or an ending that there is no report for.
    """
    if format_name is not None:
        if format_name not in FORMATS:
            raise UsageError(
                f"no report format {format_name!r}; there are: {', '.join(FORMATS)}",
                where="--format",
            )
        return format_name
    if path is None:
        return "html"
    for name, endings in FORMATS.items():
        if path.suffix.lower() in endings:
            return name
    known = ", ".join(endings[0] for endings in FORMATS.values())
    raise UsageError(
        f"{path.name}: a report ends in {known}; for another ending name the format",
        where="--output",
        hint=f"--output {quote(str(path.with_suffix('.html')))}",
    )


def write_report(
    selections: Sequence[Selection],
    path: Path,
    *,
    format_name: str | None = None,
    name: str | None = None,
    full: bool = False,
) -> Path:
    """Write a report on selections; the format follows the file's ending unless named.

    Raises:
        UsageError: an unknown format or ending, or a folder that cannot be written.
    """
    chosen = report_format(path, format_name)
    content = render_report(selections, chosen, name=name, full=full)
    write_whole(path, content.encode("utf-8", "replace"))
    return path


def render_report(
    selections: Sequence[Selection],
    format_name: str,
    *,
    name: str | None = None,
    full: bool = False,
) -> str:
    """A report as text.

    Args:
        format_name: one of `FORMATS`.
        name: title instead of the datasets.
        full: every section in Markdown too, which has the summary alone by default.
    """
    from evalake_reports.report.sections import gather, gather_summary

    if format_name == "html":
        from evalake_reports.report.page import to_html

        return to_html(gather(selections, name=name))
    from evalake_reports.report.markdown import to_json, to_markdown

    if format_name == "json":
        return to_json(gather(selections, name=name, figures=False))
    if full:
        return to_markdown(gather(selections, name=name, figures=False))
    return to_markdown(gather_summary(selections, name=name))
