"""Gather a report: for every dataset and split, its sections in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from evalake_warehouse.charts.gallery import CHARTS, Options
from evalake_warehouse.charts.labels import title
from evalake_warehouse.charts.scores import headline
from evalake_warehouse.charts.selection import Selection
from evalake_warehouse.charts.theme import Style
from evalake_warehouse.report import provenance, quality, resources
from evalake_warehouse.report.figures import WIDE, figure
from evalake_warehouse.report.leaderboard import leaderboard_table
from evalake_warehouse.report.tables import Section


@dataclass(frozen=True, slots=True)
class Panel:
    """The sections about one dataset and split."""

    name: str
    title: str
    selection: Selection
    sections: Sequence[Section]


@dataclass(frozen=True, slots=True)
class Report:
    """All that a report says, whatever the format."""

    title: str
    made_at: datetime | None
    panels: Sequence[Panel]


def gather(
    selections: Sequence[Selection], *, name: str | None = None, figures: bool = True
) -> Report:
    """Collect a report on these selections, one panel each."""
    datasets = list(dict.fromkeys(s.runs[0].dataset for s in selections))
    made_at = max(run.finished_at or run.started_at for s in selections for run in s.runs)
    panels = [_panel(number, selection, figures) for number, selection in enumerate(selections)]
    return Report(name or f"Retrieval evaluation on {', '.join(datasets)}", made_at, panels)


def _panel(number: int, selection: Selection, figures: bool) -> Panel:
    name = f"p{number}"
    sections = [
        quality.verdict(selection),
        quality.completeness(selection),
        Section("leaderboard", "Leaderboard", tables=[leaderboard_table(selection)]),
        quality.paired(selection),
        quality.breakouts(selection),
        resources.latency(selection),
        resources.cost(selection),
        resources.environment(selection),
        provenance.drops_and_caveats(selection),
    ]
    if figures:
        sections = [_with_figures(name, section, selection) for section in sections]
    return Panel(name, title(selection.runs), selection, sections)


def _with_figures(name: str, section: Section, selection: Selection) -> Section:
    figures = []
    for place, drawing in enumerate(_drawings(section.name, selection)):
        draw = partial(_draw, drawing, selection)
        wide = WIDE if drawing.wide else None
        figures.append(figure(f"{name}-{section.name}-{place}", drawing.title, draw, wide=wide))
    return replace(section, figures=[one for one in figures if one is not None])


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart of a section. Without `wide`, several narrow ones stand side by side."""

    chart: str
    title: str
    metrics: Sequence[str] = ()
    wide: bool = True


def _draw(drawing: Drawing, selection: Selection, style: Style) -> Any:
    return CHARTS[drawing.chart](selection, Options(metrics=drawing.metrics, style=style))


def _drawings(section: str, selection: Selection) -> list[Drawing]:
    metric = selection.primary_metric
    if section == "leaderboard":
        return [Drawing("score_bars", name, [name], wide=False) for name in headline(selection)]
    if section == "paired":
        return [Drawing("forest", f"Difference in {metric}")]
    return []
