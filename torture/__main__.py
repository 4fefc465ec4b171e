"""`make torture`: every campaign in turn. `python -m torture -n 30 sweep freeze` runs some."""

from __future__ import annotations

import argparse
import importlib
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from torture import crowds, hunger, workers, works
from torture.clocks import clock_goes_back
from torture.kills import kill_often
from torture.scene import Scene
from torture.table import Counts, show

# What forks need: imported once, and not used here.
_NEEDED = (
    "dbt.cli.main", "dbt.adapters.duckdb", "duckdb", "pyarrow.parquet", "polars", "rapidfuzz",
    "evalake_warehouse.build.protocol", "evalake_warehouse.build.dbt_runner",
    "evalake_ingest.editions.selfcheck", "evalake_ingest.imports.commit",
    "evalake_runners.engine.runner",
)  # fmt: skip


def main() -> int:
    """Run the campaigns; 1 if any of them found something wrong."""
    kills = works.campaigns()
    others = {
        "workers": workers.eat_workers, "full disk": hunger.fill_disk,
        "large files": hunger.limit_files, "clock": clock_goes_back, "crowds": crowds.crowd,
    }  # fmt: skip
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join([*kills, *others])}")
    parser.add_argument("-n", type=int, default=300, help="how often each campaign strikes")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    names = chosen.names or [*kills, *others]
    if unknown := sorted(set(names) - {*kills, *others}):
        parser.error(f"no campaign {', '.join(unknown)}; there are {', '.join([*kills, *others])}")
    _import_all()
    folder = Path(tempfile.mkdtemp(prefix="evalake-torture-"))
    scene = Scene(folder / "scene")
    rows: list[Counts] = []
    try:
        works.lay_out(scene)
        for name in names:
            began, chance = time.monotonic(), random.Random(f"{chosen.seed} {name}")
            row = (
                kill_often(scene, kills[name], chosen.n, chance)
                if name in kills
                else others[name](scene, chosen.n, chance)
            )
            rows.append(row)
            print(f"{name}: {row.tried} in {time.monotonic() - began:.0f} s, "
                  f"{row.wrong.total()} wrong", flush=True)  # fmt: skip
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(show(rows))
    return int(any(row.wrong for row in rows))


def _import_all() -> None:
    # A fork inherits no threads, so none may be started for it to miss.
    os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NO_COLOR": "1"})
    from evalake_cli.main import gather_commands

    for name in _NEEDED:
        importlib.import_module(name)
    gather_commands()


if __name__ == "__main__":
    sys.exit(main())
