"""`make bench`: every measurement in turn. `python -m bench metrics builds` runs some."""

from __future__ import annotations

import importlib
import sys

MEASUREMENTS = ("startup", "null_system", "metrics", "builds", "rejudge", "intervals", "coverage")


def main() -> int:
    """Run the named measurements, or all; 1 if one of them passed its limit."""
    wanted = sys.argv[1:] or MEASUREMENTS
    unknown = sorted(set(wanted) - set(MEASUREMENTS))
    if unknown:
        print(f"error: no measurement {', '.join(unknown)}; there are {', '.join(MEASUREMENTS)}")
        return 2
    worst = 0
    for name in wanted:
        print(f"\n== {name}", flush=True)
        worst = max(worst, importlib.import_module(f"bench.{name}").main() or 0)
    return worst


if __name__ == "__main__":
    sys.exit(main())
