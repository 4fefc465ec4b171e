"""One module or package per benchmark; `evalake_ingest.benchmarks` names them all."""

from __future__ import annotations

import importlib
from typing import cast

from evalake_ingest.benchmarks import BENCHMARKS
from evalake_ingest.records import Loader
from evalake_warehouse.errors import UsageError


def get_loader(name: str) -> Loader:
    """The loader of a benchmark.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in BENCHMARKS:
        from difflib import get_close_matches

        near = get_close_matches(name, BENCHMARKS, n=1)
        meant = f"; did you mean `{near[0]}`?" if near else f"; there are: {', '.join(BENCHMARKS)}"
        hint = f"evalake ingest {near[0]}" if near else "evalake datasets list --all"
        raise UsageError(f"unknown dataset `{name}`{meant}", hint=hint)
    module, _, attribute = BENCHMARKS[name].partition(":")
    return cast("Loader", getattr(importlib.import_module(f"{__name__}.{module}"), attribute))
