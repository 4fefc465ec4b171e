"""`evalake build` after one more run, with few and with many runs in the lake; then queries.

A suite that scores everything again pays for its whole history each time: the last column says how
much more one run costs in a long history than in a short one.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from bench.measure import Measured, measure
from bench.synthetic import write_dataset, write_runs

N_TASKS, N_HITS, N_DOCS = 1_000, 10, 20_000
HISTORIES = (10, 100, 1_000)
_LEADERBOARD = (
    "select arm_label, mean, ci_low, ci_high "
    "from fct_run_metrics inner join dim_runs using (run_id) "
    "where metric = 'recall@10' order by mean desc limit 20"
)


def main(histories: tuple[int, ...] = HISTORIES) -> None:
    """Print CPU seconds of adding one run, per length of history, and of a leaderboard query."""
    print(f"evalake build after one more run of {N_TASKS:,} tasks x {N_HITS} hits")
    first: Measured | None = None
    for n_runs in histories:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            write_dataset(home / "lake", dataset="bench", n_tasks=N_TASKS, n_docs=N_DOCS)
            _add_runs(home, n_runs)
            initial = _build(home)
            added = []
            for _ in range(3):
                _add_runs(home, 1)
                added.append(_build(home))
            one = sorted(added, key=lambda measured: measured.cpu_s)[1]
            first = first or one
            print(
                f"  {n_runs:>5} runs: first build {initial.cpu_s:7.1f} s CPU, "
                f"{initial.peak_mb:6.0f} MB; "
                f"one more {one.cpu_s:5.2f} s CPU, {one.peak_mb:5.0f} MB, "
                f"{one.cpu_s / first.cpu_s:4.2f} x the shortest history"
            )
            print(f"              leaderboard query {_query_ms(home):6.1f} ms")


def _add_runs(home: Path, n_runs: int) -> None:
    write_runs(
        home / "lake",
        dataset="bench",
        n_runs=n_runs,
        n_tasks=N_TASKS,
        n_hits=N_HITS,
        n_docs=N_DOCS,
    )


def _build(home: Path) -> Measured:
    program = "from evalake_cli.main import main; main()"
    os.environ["EVALAKE_HOME"] = str(home)
    return measure([sys.executable, "-c", program, "build"], runs=1, warmup=0)


def _query_ms(home: Path) -> float:
    """Wall milliseconds of the query alone, the file open: the median of nine."""
    import statistics
    import time

    from evalake_warehouse.project import Project, find_project_dir
    from evalake_warehouse.questions.open_warehouse import open_warehouse, rows

    times = []
    with open_warehouse(Project(home=home, data_dir=find_project_dir())) as connection:
        for _ in range(9):
            started = time.perf_counter()
            rows(connection, _LEADERBOARD)
            times.append((time.perf_counter() - started) * 1_000)
    return statistics.median(times)


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or HISTORIES)
