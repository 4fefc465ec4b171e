"""One module or package per benchmark; `LOADERS` names them all."""

from __future__ import annotations

import importlib
from typing import cast

from evalake_ingest.records import Loader
from evalake_warehouse.errors import UsageError

# name -> module; each module has one `LOADER`. Imported when asked for.
LOADERS: dict[str, str] = {
    "repoqa": "evalake_ingest.loaders.repoqa",
    "starter": "evalake_ingest.loaders.starter",
    "swe-qa": "evalake_ingest.loaders.swe_qa",
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
        raise UsageError(f"unknown dataset `{name}`{meant}", hint="evalake datasets list --all")
    return cast("Loader", importlib.import_module(LOADERS[name]).LOADER)
