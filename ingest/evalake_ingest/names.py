"""Names of datasets and metrics that are not there: the nearest ones, and a command that helps."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from shlex import quote

from evalake_ingest.benchmarks import BENCHMARKS
from evalake_warehouse.errors import UsageError
from evalake_warehouse.nearest import did_you_mean, nearest
from evalake_warehouse.project import Project
from evalake_warehouse.questions.definitions import is_metric, metric_definitions

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_ALL = "evalake datasets list --all"


def is_benchmark(name: str) -> bool:
    """Whether a dataset of this name is one that `evalake ingest` makes."""
    return name in BENCHMARKS


def check_own_name(name: str, *, where: str = "--dataset") -> None:
    """Refuse the name of a benchmark for a dataset that is made from a user's own files.

    Raises:
        UsageError: sweeps that name the benchmark would run on those files instead.
    """
    if is_benchmark(name):
        raise UsageError(
            f"`{name}` is a benchmark of `evalake ingest`; call your own dataset otherwise",
            where=where,
            hint=f"evalake ingest {name}",
        )


def ingested_names(lake: Path) -> list[str]:
    """Datasets that have an edition in the lake."""
    files = (lake / "datasets").glob("dataset=*/run_date=*/*.parquet")
    names = {file.parent.parent.name.removeprefix("dataset=") for file in files}
    return sorted(names - {"__schema"})  # the lake's own pin of the columns


def absent_dataset(name: str, ingested: Collection[str]) -> UsageError:
    """The error about a dataset that is not in the lake, with a command that works as it stands."""
    if name in BENCHMARKS:
        return UsageError(f"dataset `{name}` is not ingested here", hint=f"evalake ingest {name}")
    near = nearest(name, [*ingested, *BENCHMARKS])
    what = f"no dataset `{name}` in the lake{did_you_mean(name, near or ingested)}"
    if not near:
        return UsageError(what, hint=_ALL)
    verb = "datasets show" if near[0] in ingested else "ingest"
    return UsageError(what, hint=f"evalake {verb} {quote(near[0])}")


def require_plain_name(name: str, *, where: str = "") -> None:
    """Refuse a name that cannot be a folder of the lake and a word of the command line.

    Raises:
        UsageError: with what a name is made of.
    """
    if name == "latest":
        raise UsageError("`latest` cannot name a dataset: it means a run", where=where)
    if not _NAME.fullmatch(name):
        what = f"{name!r} cannot name a dataset: lower case letters, digits, '.', '_', '-'"
        raise UsageError(what, where=where)


def fetch_hint(project: Project, dataset: str) -> str:
    """The command that brings a dataset of the lake here once more, with its corpora."""
    if dataset in BENCHMARKS:
        return f"evalake ingest {dataset}"
    return "evalake import --help" if dataset in ingested_names(project.lake) else _ALL


def require_metric(project: Project, metric: str, *, where: str) -> None:
    """Refuse a metric that no run will ever have.

    Raises:
        UsageError: with the nearest ones, or all there are.
    """
    if not is_metric(project, metric):
        known = [row["metric"] for row in metric_definitions(project)]
        raise UsageError(f"no metric `{metric}`{did_you_mean(metric, known)}", where=where)
