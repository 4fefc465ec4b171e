"""The report as one HTML file that asks nothing of the network."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import Any

from evalake_reports.report.explorer import explorer_data
from evalake_reports.report.figures import css_colour, theme_variables
from evalake_reports.report.packing import BUDGET_BYTES, pack
from evalake_reports.report.sections import Panel, Report
from evalake_reports.report.tables import Row
from evalake_warehouse.shown import shown


def to_html(report: Report) -> str:
    """A self-contained page: style, script, charts and the explorer's data are all inside."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_visible,
    )
    script = _shipped("explorer.js")
    light, dark = theme_variables()
    budget = BUDGET_BYTES // max(1, len(report.panels))
    explorers = [pack(explorer_data(panel.selection), budget) for panel in report.panels]
    page = environment.from_string(_shipped("report.html.j2")).render(
        report=report,
        panels=list(zip(report.panels, explorers, strict=True)),
        script=Markup(script),  # noqa: S704 - our own file
        script_hash=_csp_hash(script),
        css=Markup(_shipped("report.css")),  # noqa: S704 - our own file
        light=Markup(light),  # noqa: S704 - generated from the palette
        dark=Markup(dark),  # noqa: S704 - generated from the palette
        svg=Markup,
        colour=_colour,
        row_class=_row_class,
    )
    return page + "\n"


def _visible(value: Any) -> Any:
    """Markup whose texts from outside have lost their invisible characters."""
    return shown(value, lines=True) if type(value) is str else value


def _row_class(row: Row) -> str:
    """What sets a row apart: a partial run, or a verdict."""
    if row.get("partial"):
        return "partial"
    return f"v-{row['verdict']}" if row.get("verdict") else "plain"


def _colour(panel: Panel, row: Row) -> str:
    """CSS colour of the arm that a row is about."""
    styles = panel.selection.styles
    run_id = str(row.get("run_id") or row.get("candidate_run_id"))
    return css_colour(styles[run_id].colour) if run_id in styles else "var(--muted)"


def _csp_hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _shipped(name: str) -> str:
    folder: Any = resources.files("evalake_reports.report") / "templates"
    return str((folder / name).read_text(encoding="utf-8"))
