"""Flags that all importers share, and what they come to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evalake_cli.app import current_project

if TYPE_CHECKING:
    from evalake_ingest.imports.options import DatasetOptions, RankingOptions

SplitAs = Literal["dev", "hash", "all"]

DatasetFlag = Annotated[str, typer.Option("--dataset", help="Name of the dataset in the lake.")]
LabelFlag = Annotated[str | None, typer.Option(help="Label of the imported run.")]
MetricFlag = Annotated[
    str | None,
    typer.Option(
        help="Primary metric of the dataset.  [default: doc level ndcg@10; else recall@10]"
    ),
]
SplitAsFlag = Annotated[
    SplitAs,
    typer.Option(
        help="dev: all tasks are for tuning; hash: 40 % dev, and a test tail whose uses are "
        "counted; all: no splits."
    ),
]
GradeScaleFlag = Annotated[
    int,
    typer.Option(min=1, max=1_000_000, help="Multiply grades by it, where they are real numbers."),
]
IdenticalIdsFlag = Annotated[
    bool,
    typer.Option(
        "--ignore-identical-ids",
        help="Leave out hits on the document with the task's own id, as BEIR does where queries "
        "stand in the corpus (ArguAna, Quora).",
    ),
]
DepthFlag = Annotated[
    int | None,
    typer.Option(
        min=1, max=1_000_000, help="Hits asked for, per task.  [default: the longest list]"
    ),
]
UnansweredFlag = Annotated[
    bool,
    typer.Option(
        "--unanswered-are-empty",
        help="Score tasks that the ranking leaves out as 0, like trec_eval -c, instead of NULL.",
    ),
]


def require_any(command: str, flag: str, dataset: Path | None, run: Path | None) -> None:
    """Refuse an import of nothing."""
    from evalake_warehouse.errors import UsageError

    if dataset is None and run is None:
        raise UsageError(f"give {flag}, --run or both", where=f"evalake import {command}")


def declared_dataset(
    name: str,
    metric: str | None,
    split_as: SplitAs,
    grade_scale: int,
    ignore_identical_ids: bool,
    *,
    makes_it: bool,
) -> DatasetOptions:
    """What the flags say of a dataset; they are refused where none is made."""
    from evalake_ingest.imports.options import DatasetOptions
    from evalake_ingest.names import check_own_name, require_metric, require_plain_name
    from evalake_warehouse.errors import UsageError

    if metric is not None:
        require_metric(current_project(), metric, where="--metric")
    require_plain_name(name, where="--dataset")
    if makes_it:
        check_own_name(name)
    given = {
        "--metric": metric,
        "--split-as": split_as != "dev",
        "--grade-scale": grade_scale != 1,
        "--ignore-identical-ids": ignore_identical_ids,
    }
    if not makes_it and (flags := [flag for flag, value in given.items() if value]):
        what = f"belongs to a dataset, and `{name}` is in the lake already"
        raise UsageError(what, where=", ".join(flags))
    return DatasetOptions(name, metric, split_as, grade_scale, ignore_identical_ids)


def declared_ranking(
    label: str | None, depth: int | None, are_empty: bool, *, has_run: bool
) -> RankingOptions | None:
    """What the flags say of a ranking; they are refused where there is none."""
    from evalake_ingest.imports.options import RankingOptions
    from evalake_warehouse.errors import UsageError
    from evalake_warehouse.labels import check_label

    if not has_run:
        given = {"--label": label, "--depth": depth, "--unanswered-are-empty": are_empty}
        if flags := [flag for flag, value in given.items() if value]:
            raise UsageError("belongs to a ranking: give --run", where=", ".join(flags))
        return None
    if label is None:
        raise UsageError("a ranking needs a label", where="--label")
    check_label(label)
    return RankingOptions(label, depth, "empty" if are_empty else "not_attempted")
