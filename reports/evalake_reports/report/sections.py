"""Gather a report: for every dataset and split, its sections in reading order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from evalake_reports.charts.comparisons import CHANGE_READING, ab_splits
from evalake_reports.charts.declared import Options
from evalake_reports.charts.difference_charts import FOREST_READING, STRIPS_READING
from evalake_reports.charts.frozen_baselines import with_known
from evalake_reports.charts.gallery import CHARTS
from evalake_reports.charts.labels import chance_text
from evalake_reports.charts.latency import FRONT_READING, LATENCY_READING
from evalake_reports.charts.scores import READING, headline
from evalake_reports.charts.selection import Selection
from evalake_reports.charts.theme import Style
from evalake_reports.charts.timeline import TIME_READING
from evalake_reports.charts.variants import KINDS
from evalake_reports.report import provenance, quality, resources
from evalake_reports.report.figures import WIDE, figure
from evalake_reports.report.leaderboard import interval_table, leaderboard_table
from evalake_reports.report.tables import Figure, Section
from evalake_reports.report.verdict_section import summary


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
    if figures:
        panels = _with_splits_compared(panels)
    return Report(name or f"Retrieval evaluation on {', '.join(datasets)}", made_at, panels)


def gather_summary(selections: Sequence[Selection], *, name: str | None = None) -> Report:
    """The same selections in short, one section each."""
    panels = [
        Panel(f"p{number}", selection.heading, selection, [summary(selection)])
        for number, selection in enumerate(selections)
    ]
    return Report(name or "", None, panels)


def _panel(number: int, selection: Selection, figures: bool) -> Panel:
    name = f"p{number}"
    frozen = with_known(selection)
    against_frozen = [quality.against_frozen(place, one) for place, one in enumerate(frozen)]
    sections = [
        quality.verdict(selection, frozen),
        quality.completeness(selection),
        Section(
            "leaderboard",
            "Leaderboard",
            tables=[leaderboard_table(selection), interval_table(selection)],
        ),
        quality.paired(selection),
        *against_frozen,
        quality.breakouts(selection),
        resources.latency(selection),
        resources.cost(selection),
        resources.environment(selection),
        provenance.drops_and_caveats(selection),
    ]
    if figures:
        pairs = zip(against_frozen, frozen, strict=True)
        of_section = {section.name: one for section, one in pairs}
        sections = [
            _with_figures(name, section, of_section.get(section.name, selection))
            for section in sections
        ]
    return Panel(name, selection.heading, selection, sections)


def _with_figures(name: str, section: Section, selection: Selection) -> Section:
    placed: dict[bool, list[Figure]] = {False: [], True: []}
    for place, drawing in enumerate(_drawings(section, selection)):
        drawn = figure(
            f"{name}-{section.name}-{place}",
            drawing.title,
            partial(_draw, drawing, selection),
            wide=WIDE if drawing.wide else None,
            note=drawing.note,
        )
        if drawn is not None:
            placed[drawing.after].append(drawn)
    return replace(section, figures=placed[False], more_figures=placed[True])


def _with_splits_compared(panels: Sequence[Panel]) -> list[Panel]:
    """Add the chart over all splits of a dataset to the first leaderboard of that dataset."""
    groups: dict[tuple[str, str], list[Panel]] = {}
    for panel in panels:
        first = panel.selection.runs[0]
        groups.setdefault((first.dataset, first.edition), []).append(panel)
    finished = {}
    for group in groups.values():
        if len(group) < 2:
            continue
        selections = [panel.selection for panel in group]
        draw = partial(_draw_splits, selections)
        name = f"{group[0].name}-splits"
        drawn = figure(name, "The same arms on each split", draw, note=READING)
        if drawn is not None:
            finished[group[0].name] = replace(
                group[0], sections=[_added(section, drawn) for section in group[0].sections]
            )
    return [finished.get(panel.name, panel) for panel in panels]


def _added(section: Section, drawn: Figure) -> Section:
    if section.name != "leaderboard":
        return section
    return replace(section, more_figures=[*section.more_figures, drawn])


def _draw_splits(selections: Sequence[Selection], style: Style) -> Any:
    return ab_splits(selections, style=style)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart of a section. Without `wide`, several narrow ones stand side by side."""

    chart: str
    title: str
    metrics: Sequence[str] = ()
    wide: bool = True
    note: str = ""
    dimension: str = ""
    after: bool = False  # below the tables of its section


def _draw(drawing: Drawing, selection: Selection, style: Style) -> Any:
    options = Options(metrics=drawing.metrics, dimension=drawing.dimension, style=style)
    return CHARTS[drawing.chart](selection, options)


def _drawings(section: Section, selection: Selection) -> list[Drawing]:
    metric = selection.primary_metric
    chance = chance_text(selection.chance(metric))
    if section.name == "leaderboard":
        return [
            *[
                Drawing("score_bars", name, [name], wide=False, note=READING, after=True)
                for name in headline(selection)
            ],
            Drawing("gold_ranks", "Rank of the first relevant hit", after=True),
            Drawing("arm_over_time", f"{metric} over time", note=TIME_READING, after=True),
        ]
    if section.name.startswith(quality.FROZEN):
        return [Drawing("forest", f"Difference in {metric}", note=FOREST_READING)]
    if section.name == "paired":
        return [
            Drawing("forest", f"Difference in {metric}", note=FOREST_READING),
            Drawing("wins_and_losses", "Wins and losses per task", note=STRIPS_READING, after=True),
            *[
                Drawing(name, kind.name, wide=False, note=f"{CHANGE_READING} {chance}", after=True)
                for name, kind in KINDS.items()
            ],
        ]
    if section.name == "breakouts" and any(t.name == "by qa_type" for t in section.tables):
        return [
            Drawing("breakout_heatmap", f"{metric} by qa_type", dimension="qa_type", note=chance)
        ]
    if section.name == "latency":
        return [
            Drawing("latency_bars", "Time per arm", note=LATENCY_READING),
            *[
                Drawing(
                    f"quality_against_{name}",
                    f"{metric} against {what} time",
                    wide=False,
                    note=FRONT_READING,
                    after=True,
                )
                for name, what in (("latency", "search"), ("index_time", "index"))
            ],
        ]
    return []
