"""Render docs/metrics.md from the metric definitions and the build's variables."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

from evalake_warehouse.build.settings import BuildSettings
from evalake_warehouse.project import Project, find_project_dir
from evalake_warehouse.questions.definitions import metric_definitions

_HEAD = """# Metrics

Made from `warehouse/dbt-project/seeds/metric_definitions.csv` by `python -m
evalake_reports.report.metrics_page`. R is the number of relevant gold items of a task at a level,
from the dataset alone. Units are distinct files at file level and hits elsewhere, ranked from 1. A
hit earns at most one gold item, a gold item is earned once. All values lie in [0, 1].

A metric at the dataset's primary level has a plain name (`recall@5`); at another level the name has
it (`recall@5:symbol`). Values are NULL, with `null_reason`, where a task failed (`error`,
`timeout`, `not_attempted`), has no gold (`no_gold`), was asked for fewer hits than the cutoff
(`beyond_depth`), where the metric has no meaning (`not_applicable`), where one text was answered
(output `composite` or `blob`) and no gold of the task is text (`no_comparable_output`), or where
hits that an attempt counts, gold, or texts that gold is recognised by are gone from the lake
(`evidence_lost`).

Cutoffs are free: `{measures}` take any whole number after the @. Of every run there are the metrics
of the first column. Those of the second are there for runs whose depth reaches the cutoff, at no
cost to others. Any other, such as `recall@30`, is there for the runs of a dataset or family whose
primary metric it is (`evalake import ... --metric`, `primary_metric` in a sweep file); past a run's
depth it is NULL with `beyond_depth`.

| metric | where the depth reaches it | formula | pairs tested by | reference |
|---|---|---|---|---|
"""

_VARIABLES = """
## Variables

`evalake build --var NAME=VALUE --scenario NAME` judges every run ever made by another value, in a
warehouse of its own. The default one keeps these. A scenario keeps the variables it was built with:
another `--var` changes that one alone, and a build without `--var` brings it up to date.

| variable | default | range | what |
|---|---|---|---|
"""


def render_metrics_page(project_dir: Path) -> str:
    """The page's Markdown."""
    definitions = metric_definitions(Project(home=Path(), data_dir=project_dir))
    lines = []
    for formula, group in groupby(definitions, key=lambda row: row["formula"]):
        rows = list(group)
        usual, deep = (
            ", ".join(f"`{row['metric']}`" for row in rows if row["is_deep"] == is_deep)
            for is_deep in ("false", "true")
        )
        test = "McNemar" if rows[0]["is_binary"] == "true" else "sign-flip"
        lines.append(f"| {usual} | {deep} | {formula} | {test} | {rows[0]['source']} |\n")
    free = dict.fromkeys(
        row["metric"].partition("@")[0] for row in definitions if row["is_deep"] == "true"
    )
    head = _HEAD.format(measures="`, `".join(f"{name}@K" for name in free))
    return head + "".join(lines) + _VARIABLES + "".join(_variable_lines())


def _variable_lines() -> list[str]:
    lines = []
    schema = BuildSettings.model_json_schema()["properties"]
    marks = {
        "minimum": "at least",
        "exclusiveMinimum": "over",
        "maximum": "at most",
        "exclusiveMaximum": "under",
    }
    for name, rules in schema.items():
        limits = ", ".join(f"{mark} {rules[key]:g}" for key, mark in marks.items() if key in rules)
        default = _default(rules["default"])
        lines.append(f"| `{name}` | {default} | {limits} | {rules['description']} |\n")
    return lines


def _default(value: float | str) -> str:
    return value or "none" if isinstance(value, str) else f"{value:g}"


def main() -> None:
    """Write docs/metrics.md of the checkout."""
    project_dir = find_project_dir()
    page = project_dir / "docs" / "metrics.md"
    page.write_text(render_metrics_page(project_dir), encoding="utf-8")
    print(page, file=sys.stderr)


if __name__ == "__main__":
    main()
