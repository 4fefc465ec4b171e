"""What a sweep file and a system file may say. `evalake config schema` prints these models."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from evalake_runners.configuration.strict import Strict
from evalake_warehouse.labels import label_problem
from evalake_warehouse.vocabulary import Split

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+@-]{0,79}$")]

Text = Annotated[str, StringConstraints(min_length=1)]


def _usable(label: str) -> str:
    if problem := label_problem(label):
        raise ValueError(problem)
    return label


Label = Annotated[Name, AfterValidator(_usable)]

Depth = Annotated[int | None, Field(ge=1, le=10_000, description="Hits asked for.")]
BlobBytes = Annotated[
    int | None,
    Field(
        ge=1,
        le=10_000_000,
        description="Join the texts of the hits, best first, into one of at most so many bytes; "
        "the arm's output is that text, its depth 1.",
    ),
]
BlobHits = Annotated[
    int | None,
    Field(
        ge=1,
        le=10_000,
        description="With blob_bytes: hits asked for.  [default: the system file's depth, else the "
        "sweep's]",
    ),
]

DEFAULT_DEPTH = 50


class Limits(Strict):
    """Where a task, an index or a whole sweep is stopped."""

    timeout_s: float = Field(default=60.0, gt=0, le=86_400, description="Per task, in seconds.")
    index_timeout_s: float = Field(
        default=3_600.0, gt=0, le=604_800, description="Per corpus to index, in seconds."
    )
    open_timeout_s: float = Field(
        default=300.0, gt=0, le=86_400, description="To open an index in a worker, in seconds."
    )
    max_cost_usd: float | None = Field(
        default=None, gt=0, description="Start no task once the sweep has cost this much."
    )
    jobs: int = Field(default=1, ge=1, le=64, description="Worker processes side by side.")


class SystemFile(Strict):
    """A system with its configuration, as `configs/systems/*.yaml` and `--config` hold it."""

    system: str = Field(
        description="Adapter name: bm25, pydocs-mcp, ... or python:MODULE[:FUNCTION]."
    )
    label: Label | None = Field(
        default=None, description="Name in tables.  [default: the system's]"
    )
    config: dict[str, Any] = Field(default_factory=dict, description="The system's own keys.")
    query_variant: str = Field(
        default="default", description="Which wording of the question is asked."
    )
    depth: Depth = None
    blob_bytes: BlobBytes = None
    blob_hits: BlobHits = None


class ArmEntry(Strict):
    """One arm of a sweep: a system file by `use`, or a system inline; other keys override."""

    use: str | None = Field(default=None, description="A system file, relative to this file.")
    system: str | None = Field(default=None, description="Adapter name, without `use`.")
    label: Label | None = Field(default=None, description="Name in tables, unique in the sweep.")
    config: dict[str, Any] = Field(
        default_factory=dict, description="The system's own keys, over those of `use`."
    )
    query_variant: str | None = Field(
        default=None, description="Which wording of the question is asked."
    )
    depth: Depth = None
    blob_bytes: BlobBytes = None
    blob_hits: BlobHits = None
    corpus_dir: str | None = Field(
        default=None, description="A folder to search instead of the dataset's corpora."
    )
    include: list[str] = Field(
        default_factory=list, description="Globs: only these files of `corpus_dir` are searched."
    )
    exclude: list[str] = Field(
        default_factory=list, description="Globs: these files of `corpus_dir` are not searched."
    )


class DatasetEntry(Strict):
    """Tasks to run on."""

    dataset: Name = Field(description="A dataset that was ingested.")
    split: Split | None = Field(default=None, description="[default: the dataset's own]")
    edition: Text | None = Field(default=None, description="Edition or a prefix. [default: latest]")
    repo: Text | None = Field(default=None, description="Only the tasks of this repository.")
    library: Text | None = Field(default=None, description="Only the tasks of this library.")


class Sweep(Strict):
    """Many runs that belong together: arms x datasets x repeats."""

    name: Name = Field(description="Names the sweep in the lake.")
    family: Name | None = Field(
        default=None, description="Runs compared with one baseline.  [default: the name]"
    )
    datasets: list[DatasetEntry] = Field(min_length=1)
    arms: list[ArmEntry] = Field(min_length=1)
    baseline: Label | None = Field(default=None, description="Label of the arm to compare with.")
    primary_metric: Text | None = Field(
        default=None, description="Metric of the comparison.  [default: the dataset's]"
    )
    depth: int = Field(default=DEFAULT_DEPTH, ge=1, le=10_000, description="Hits asked for.")
    limits: Limits = Limits()
    seed: int = Field(default=0, ge=0, lt=2**63, description="For systems that draw at random.")
    repeats: int = Field(default=1, ge=1, le=100, description="Runs of each arm.")
