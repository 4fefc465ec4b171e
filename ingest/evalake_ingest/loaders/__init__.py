"""One module or package per benchmark; `LOADERS` names them all."""

from __future__ import annotations

import importlib
from typing import cast

from evalake_ingest.records import Loader
from evalake_warehouse.errors import UsageError

# name -> module below this package and its attribute; imported when asked for.
LOADERS: dict[str, str] = {
    "conala-docs": "conala_docs:LOADER",
    "ds1000": "ds1000:LOADER",
    "ds1000-packages": "ds1000:PACKAGES_LOADER",
    "issue-tasks": "issue_tasks:LOADER",
    "odex": "odex:LOADER",
    "repoqa": "repoqa:LOADER",
    "repoqa-structural": "repoqa_structural:LOADER",
    "starter": "starter:LOADER",
    "swe-bench-verified": "swe_bench:LOADER",
    "swe-qa": "swe_qa:LOADER",
    "swe-qa-pro": "swe_qa_pro:LOADER",
}


def get_loader(name: str) -> Loader:
    """The loader of a benchmark.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in LOADERS:
        from difflib import get_close_matches

        near = get_close_matches(name, LOADERS, n=1)
        meant = f"; did you mean `{near[0]}`?" if near else f"; there are: {', '.join(LOADERS)}"
        hint = f"evalake ingest {near[0]}" if near else "evalake datasets list --all"
        raise UsageError(f"unknown dataset `{name}`{meant}", hint=hint)
    module, _, attribute = LOADERS[name].partition(":")
    return cast("Loader", getattr(importlib.import_module(f"{__name__}.{module}"), attribute))
