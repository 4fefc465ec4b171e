"""One module or package per benchmark; `evalake_ingest.benchmarks` names them all."""

from __future__ import annotations

import importlib
from typing import cast

from evalake_ingest.benchmarks import BENCHMARKS
from evalake_ingest.records import Loader
from evalake_warehouse.errors import UsageError
from evalake_warehouse.nearest import did_you_mean, nearest


def get_loader(name: str) -> Loader:
    """The loader of a benchmark.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in BENCHMARKS:
        near = nearest(name, BENCHMARKS)
        hint = f"evalake ingest {near[0]}" if near else "evalake datasets list --all"
        raise UsageError(f"unknown dataset `{name}`{did_you_mean(name, BENCHMARKS)}", hint=hint)
    module, _, attribute = BENCHMARKS[name].partition(":")
    return cast("Loader", getattr(importlib.import_module(f"{__name__}.{module}"), attribute))
