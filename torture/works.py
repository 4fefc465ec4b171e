"""The writers of a lake and a warehouse, as work for campaigns, and the homes they begin with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import nullcontext

from torture.forked import Work
from torture.kills import Campaign
from torture.scene import (
    DATASET,
    IMPORT_DATASET,
    IMPORT_RUN,
    Scene,
    command,
    lake_rows,
    sweep,
    warehouse_rows,
)

_FREEZE = command("baseline", "freeze", "turned", "--replace")
_REMOVE = command("datasets", "remove", DATASET, "--yes")


def lay_out(scene: Scene) -> None:
    """Make the homes that campaigns begin with: empty, a dataset, its runs, their warehouse."""
    scene.lay_out()
    scene.home.mkdir()
    scene.save("empty")
    scene.do(*IMPORT_DATASET)
    scene.save("dataset")
    scene.do("run", "sweep.yaml", "--confirm", "torture")
    scene.do("build")
    scene.do("baseline", "freeze", "plain")
    scene.do("build")
    scene.save("built")
    scene.do(*IMPORT_RUN)
    scene.save("changed")


def campaigns() -> dict[str, Campaign]:
    """Every piece of work that is killed, by name."""
    found = (
        Campaign("sweep", "dataset", sweep(), sweep("resume"), lake_rows),
        Campaign("ingest", "empty", ingest, ingest, lake_rows),
        Campaign(
            "import dataset", "empty", command(*IMPORT_DATASET), command(*IMPORT_DATASET), lake_rows
        ),
        Campaign("import run", "built", command(*IMPORT_RUN), command(*IMPORT_RUN), lake_rows),
        Campaign("build one run", "changed", build(), build(), warehouse_rows, is_atomic=True),
        Campaign(
            "build all in batches", "changed", build(full=True), build(), warehouse_rows,
            is_atomic=True, share=0.5,
        ),
        Campaign("freeze", "built", _FREEZE, _FREEZE, baseline_rows, is_atomic=True),
        Campaign("remove", "built", _REMOVE, _remove_again, lake_rows),
    )  # fmt: skip
    return {campaign.name: campaign for campaign in found}


def build(*, full: bool = False) -> Work:
    """A build that tells its steps; a full one judges run by run, comparisons in batches too."""

    def work(step: Callable[[str], None]) -> int:
        from evalake_warehouse.build import batches

        if full:
            batches.ROWS_PER_BATCH = 2_000  # two runs of this lake
        return _telling(["build", *(["--full"] if full else [])], step)

    return work


def ingest(step: Callable[[str], None]) -> int:
    """An ingest with its proof, of a benchmark that is made here."""
    from evalake_ingest import loaders
    from evalake_ingest.originals import selection

    loaders.get_loader = lambda name: name  # type: ignore[assignment,return-value]
    selection.load = lambda *_: _benchmark()  # type: ignore[assignment]
    return _telling(["ingest", "made-here"], step)


def _telling(arguments: list[str], step: Callable[[str], None]) -> int:
    """A command line that tells its steps, which a person would see on a terminal."""
    from evalake_cli import progress
    from evalake_cli.main import run_cli

    progress.step_display = lambda *_: nullcontext(step)
    return int(run_cli(arguments))


def _benchmark() -> object:
    from evalake_ingest.corpora.sources import MemorySource
    from evalake_ingest.records import DatasetInfo, GoldItem, Loaded, Qrel, Task

    def task(number: int) -> Task:
        path = f"mod_{number % 12:02d}.py"
        gold = (GoldItem(f"file:{path}", "file", (Qrel("file", path=path),)),)
        return Task(f"task-{number:03d}", "question", f"Where is topic {number}?", "here", gold)

    info = DatasetInfo(
        name="made-here", revision="1", loader_version="1", source="made here", licence="none",
        citation="none", primary_level="file", primary_metric="recall@10", default_split="dev",
    )  # fmt: skip
    tasks = [task(number) for number in range(24)]
    source = MemorySource("here", "made here", {f"mod_{n:02d}.py": f"x = {n}\n" for n in range(12)})
    return Loaded(info, (source,), tasks, (), len(tasks))


def _remove_again(_: Callable[[str], None]) -> int:
    """The same removal again, which may find nothing left to take."""
    from evalake_cli.main import run_cli

    code = int(run_cli(["datasets", "remove", DATASET, "--yes"]))
    return 0 if code == 2 else code


def baseline_rows(scene: Scene) -> Mapping[str, object]:
    """The frozen baselines, which must be whole files of JSON.

    Raises:
        AssertionError: one is not.
    """
    found: dict[str, object] = {}
    for file in sorted((scene.folder / "baselines").glob("*.json")):
        try:
            frozen = json.loads(file.read_text("utf-8"))
        except ValueError as error:
            raise AssertionError(f"{file.name} is no JSON: {error}") from error
        found[file.name] = [frozen["record"]["arm_label"], json.dumps(frozen["metrics"])]
    return found
