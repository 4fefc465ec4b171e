"""Depths that are too small for the metric that arms are judged by, told before anything runs."""

from __future__ import annotations

from evalake_runners.sweeps.arms import ArmSpec
from evalake_warehouse.questions.definitions import cutoff_of, enough_depth

_LEAST_PER_CUTOFF = 3  # hits; several of a list are often of one file


def shallow(spec: ArmSpec, metric: str, primary_level: str) -> str | None:
    """What is wrong with an arm's depth, or will probably be; None where nothing is.

    Args:
        primary_level: the dataset's, which a metric without a level in its name is at.
    """
    cutoff = cutoff_of(metric)
    if cutoff is None or spec.blob is not None:
        return None
    instead = f"ask for depth {enough_depth(metric)}"
    if spec.depth < cutoff:
        return f"depth {spec.depth} is below the cutoff of {metric}, which is not scored; {instead}"
    level = metric.partition(":")[2] or primary_level
    if level != "file" or spec.depth >= _LEAST_PER_CUTOFF * cutoff:
        return None
    return (
        f"depth {spec.depth} is less than {_LEAST_PER_CUTOFF} x the cutoff of {metric}, so that "
        f"lists run out of distinct files before it; {instead}"
    )
