"""What the engine itself costs: a null system, 1,000 and 10,000 attempts of 10 hits each.

    python -m bench.null_system

The slope between the two sizes leaves out what a sweep costs once. Limits: 1 ms of wall time and
1 ms of CPU (this process and the worker) per attempt, and 120 bytes on disk per hit.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evalake_ingest.editions.pipeline import ingest
from evalake_ingest.records import CorpusDocument, DatasetInfo, GoldItem, Loaded, Qrel, Task
from evalake_runners.engine.plan import Request, make_plan
from evalake_runners.engine.progress import Progress
from evalake_runners.engine.runner import SweepRunner
from evalake_runners.sweeps.arms import ArmSpec
from evalake_runners.sweeps.config import DatasetEntry, Limits
from evalake_runners.workers.stop import StopFlag
from evalake_warehouse.project import Project

SMALL, LARGE = 1_000, 10_000
DEPTH = 10
MAX_MS_PER_ATTEMPT = 1.0
MAX_BYTES_PER_HIT = 120.0
N_FILES = 500


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one run, in seconds."""

    wall_s: float
    cpu_s: float


class _Corpus:
    name = "null"
    kind = "files"
    origin = "made for a benchmark"
    repo = None
    commit = None

    def documents(self) -> Iterator[CorpusDocument]:
        for number in range(N_FILES):
            yield CorpusDocument(f"pkg/sub_{number % 20}/module_{number}.txt", b"nothing\n")


def main() -> int:
    """Measure, print, and return 1 where a limit is passed."""
    with tempfile.TemporaryDirectory(prefix="evalake-bench-") as folder:
        # A folder that is no checkout: the looks of a benchmark are nobody's business.
        project = Project(home=Path(folder), data_dir=Path(folder))
        _ingest(project)
        _run(project, 10)  # imports and file caches
        small, large = _run(project, SMALL), _run(project, LARGE)
        n_hits = (10 + SMALL + LARGE) * DEPTH
        n_bytes = sum(file.stat().st_size for file in (project.lake / "hits").rglob("*.parquet"))
    wall_ms = (large.wall_s - small.wall_s) * 1_000 / (LARGE - SMALL)
    cpu_ms = (large.cpu_s - small.cpu_s) * 1_000 / (LARGE - SMALL)
    bytes_per_hit = n_bytes / n_hits
    print(f"null system, {SMALL:,} to {LARGE:,} attempts x {DEPTH} hits")
    print(f"wall  {wall_ms:6.3f} ms per attempt (at most {MAX_MS_PER_ATTEMPT:g})")
    print(f"CPU   {cpu_ms:6.3f} ms per attempt (at most {MAX_MS_PER_ATTEMPT:g})")
    print(f"disk  {bytes_per_hit:6.1f} bytes per hit (at most {MAX_BYTES_PER_HIT:g})")
    within = max(wall_ms, cpu_ms) <= MAX_MS_PER_ATTEMPT and bytes_per_hit <= MAX_BYTES_PER_HIT
    return 0 if within else 1


def _ingest(project: Project) -> None:
    gold = (GoldItem("g", "file", (Qrel("file", path="pkg/sub_0/module_0.txt"),)),)
    tasks = [Task(f"task-{n:06d}", "question", f"question {n}", "null", gold) for n in range(LARGE)]
    info = DatasetInfo(
        name="null", revision="1", loader_version="1", source="made for a benchmark",
        licence="none", citation="none", primary_level="file", primary_metric="recall@5",
        default_split="all",
    )  # fmt: skip
    ingest(project, Loaded(info, (_Corpus(),), tasks, (), LARGE), check=None)


def _run(project: Project, n_tasks: int) -> Cost:
    name = "python:bench.null_adapter"
    arm = ArmSpec(label="null", adapter=name, config={}, depth=DEPTH)
    request = Request(
        arms=(arm,), datasets=(DatasetEntry(dataset="null", split="all"),), limits=Limits(),
        limit=n_tasks, confirm="benchmark",
    )  # fmt: skip
    plan = make_plan(project, request)
    wall, cpu = time.perf_counter(), _cpu_seconds()
    runner = SweepRunner(project, plan, Progress(), StopFlag())
    runner.run()
    cost = Cost(time.perf_counter() - wall, _cpu_seconds() - cpu)
    answered = runner.results[0].statuses["ok"]
    if answered != n_tasks:
        raise AssertionError(f"{answered} of {n_tasks} tasks were answered")
    return cost


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    sys.exit(main())
