"""Names in a sweep file that stand for things outside of it: its datasets and its metric."""

from __future__ import annotations

from collections.abc import Iterator

from evalake_ingest.benchmarks import BENCHMARKS
from evalake_ingest.names import absent_dataset, ingested_names
from evalake_runners.configuration.yaml_file import YamlFile, check_parts
from evalake_runners.sweeps.config import DatasetEntry, Sweep
from evalake_warehouse.nearest import did_you_mean
from evalake_warehouse.project import Project
from evalake_warehouse.questions.definitions import is_metric, metric_definitions


def check_metric(file: YamlFile, metric: str, project: Project) -> None:
    """Note a metric that no run will have; `recall@5:symbol` is recall@5 at another level."""
    name = metric.partition(":")[0]
    if not is_metric(project, name):
        known = [row["metric"] for row in metric_definitions(project)]
        file.add(("primary_metric",), f"no metric `{name}`{did_you_mean(name, known)}")


def check_datasets(file: YamlFile, project: Project) -> list[str]:
    """Note datasets that are neither in the lake nor known to `evalake ingest`.

    Returns:
        Commands that help with them.
    """
    ingested = ingested_names(project.lake)
    hints: dict[str, None] = {}
    for number, name in _written(file):
        if name not in ingested and name not in BENCHMARKS:
            error = absent_dataset(name, ingested)
            file.add(("datasets", number, "dataset"), error.problems[0].what)
            hints.setdefault(error.hint or "")
    return list(filter(None, hints))


def not_ingested(sweep: Sweep, project: Project) -> tuple[str, ...]:
    """Datasets of a right sweep that are still to be ingested."""
    ingested = ingested_names(project.lake)
    names = dict.fromkeys(entry.dataset for entry in sweep.datasets)
    return tuple(name for name in names if name not in ingested)


def _written(file: YamlFile) -> Iterator[tuple[int, str]]:
    """Dataset names as far as they can be read; what is wrong with the rest is noted elsewhere."""
    written = file.content.get("datasets") if isinstance(file.content, dict) else None
    for number, content in enumerate(written if isinstance(written, list) else []):
        entry, _ = check_parts(DatasetEntry, content)
        if entry is not None:
            yield number, entry.dataset
