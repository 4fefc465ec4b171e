"""What starter's loader keeps of its tasks, and what it says of the rest."""

from __future__ import annotations

from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from tests.ingest.loading import by_id, gold, load, reasons

from evalake_ingest.corpora import packages
from evalake_ingest.corpora.packages import WheelPin
from evalake_ingest.corpora.symbols import read_symbols
from evalake_ingest.editions.edition import make_edition
from evalake_ingest.loaders import get_loader, starter
from evalake_ingest.records import LoadOptions
from evalake_warehouse.errors import DatasetError
from evalake_warehouse.project import Project


def starter_tasks(**symbols: list[str]) -> list[tuple[str, starter.StarterTask]]:
    """Task id -> symbols of pkg/a.py."""
    return [
        (
            f"a.yaml#{number}",
            starter.StarterTask(
                id=task_id,
                kind="describe",
                query="do  it\nnow",
                gold=[starter.StarterGold(path="pkg/a.py", symbol=name) for name in names],
            ),
        )
        for number, (task_id, names) in enumerate(symbols.items(), start=1)
    ]


def test_starter_gold_whose_code_is_another_is_dropped_and_so_is_a_task_left_without(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    overloaded = "class C:\n    def f(self, a): return a\n    def f(self): pass\n"
    read = overloaded + "def g(): return 1\ndef gone(): return 3\n"
    at_hand = overloaded + "def g(): return 2\n"
    recorded = {
        symbol.symbol: symbol.fingerprint
        for symbol in read_symbols("pkg/a.py", read.encode(), module="pkg.a").symbols
    }
    written = starter_tasks(one=["C.f", "g"], two=["g"], three=["gone", "g"], four=["C.f"])
    monkeypatch.setattr(starter, "read_tasks", lambda _: written)
    monkeypatch.setattr(starter, "read_fingerprints", lambda *_: {"pkg/a.py": recorded})
    files = {"pkg/__init__.py": b"", "pkg/a.py": at_hand.encode()}
    monkeypatch.setattr(starter, "read_packages", lambda *_, **__: [files])
    edition = load(project, "starter", project.home)
    tasks = by_id(edition)
    assert list(tasks) == ["one", "four"]
    kept = tasks["one"]
    assert kept.query == "do it now"
    assert gold(kept, "symbol") == {"pkg/a.py::C.f": "primary"}
    assert kept.gold[0].qrels[0].start_line == 3  # the definition in force
    assert gold(kept, "file") == {"pkg/a.py": "primary"}
    assert edition.dropped_by_reason == {"fingerprint_not_in_corpus": 4}
    lost = {drop.source_row for drop in edition.drops} - {"a.yaml#1"}
    assert lost == {"a.yaml#2", "a.yaml#3"}
    assert edition.rows_read == len(tasks) + len(lost)
    assert {drop.evidence for drop in edition.drops} == {
        "symbol gold pkg/a.py::g: its code is another",
        "symbol gold pkg/a.py::gone: nothing of that name",
    }


def test_one_changed_function_of_the_packages_costs_starter_its_tasks_alone(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(str(resources.files(starter)))
    written = starter.read_tasks(folder / "tasks")
    places = Counter((place.path, place.symbol) for _, task in written for place in task.gold)
    row, changed = next(
        (row, task)
        for row, task in written
        if len(task.gold) == 1 and places[task.gold[0].path, task.gold[0].symbol] == 1
    )
    (place,) = changed.gold

    def with_a_change(*arguments: Any, **options: Any) -> list[dict[str, bytes]]:
        copies = [dict(files) for files in packages.read_packages(*arguments, **options)]
        (files,) = (files for files in copies if place.path in files)
        found = read_symbols(place.path, files[place.path], module="").symbols
        end = [one.end_line for one in found if one.symbol == place.symbol][-1]
        lines = files[place.path].decode().splitlines()
        indent = lines[end - 1][: len(lines[end - 1]) - len(lines[end - 1].lstrip())]
        files[place.path] = "\n".join([*lines[:end], f"{indent}pass", *lines[end:]]).encode()
        return copies

    def not_installed(pin: WheelPin, _: Path) -> dict[str, bytes]:
        pytest.skip(f"{pin.name} {pin.version} is not installed here")

    monkeypatch.setattr(packages, "_fetch", not_installed)
    monkeypatch.setattr(starter, "read_packages", with_a_change)
    edition = make_edition(project, get_loader("starter").load(LoadOptions(cache=project.home)))
    assert reasons(edition) == {(row, "fingerprint_not_in_corpus"): 1}
    assert {task.id for _, task in written} - by_id(edition).keys() == {changed.id}
    assert edition.rows_read == len(edition.tasks) + 1 == len(written)


def test_starter_gold_without_a_fingerprint_or_by_another_rule_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "fingerprints.yaml"
    file.write_text("rule: ast-1\ngold: {pkg/a.py: {f: 00}}\n")
    with pytest.raises(DatasetError, match=r"a\.yaml#2: pkg/a\.py::g has no fingerprint"):
        starter.read_fingerprints(file, starter_tasks(one=["f"], two=["g"]))
    file.write_text("rule: ast-0\ngold: {}\n")
    with pytest.raises(DatasetError, match="by rule ast-0, expected ast-1"):
        starter.read_fingerprints(file, [])


def test_badly_written_starter_tasks_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "- {id: Bad Id, kind: describe, query: q, gold: [{path: a.py, symbol: f}]}\n"
        "- {id: fine, kind: riddle, query: q, gold: [{path: a.py, symbol: f}]}\n"
        "- {id: same, kind: describe, query: q, gold: [{path: a.py, symbol: f}]}\n"
        "- {id: same, kind: describe, query: q, gold: [{path: a.py, symbol: f}]}\n"
    )
    with pytest.raises(DatasetError) as raised:
        starter.read_tasks(tmp_path)
    assert [problem.where for problem in raised.value.problems] == [
        "a.yaml#1",
        "a.yaml#2",
        "a.yaml#4",
    ]
