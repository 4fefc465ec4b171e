"""The written tasks of starter keep what its datasheet promises."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from importlib import metadata, resources
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalake_ingest.corpora.symbols import Symbol, read_symbols

FOLDER = Path(str(resources.files("evalake_ingest.loaders.starter")))
PACKAGES = (
    "anyio",
    "click",
    "httpcore",
    "httpx",
    "jinja2",
    "mcp",
    "packaging",
    "requests",
    "rich",
    "starlette",
    "typer",
    "urllib3",
)
SUBTYPES = {
    "compatibility",
    "concurrency",
    "configuration",
    "control flow",
    "data rules",
    "design reason",
    "error handling",
    "error reporting",
    "input and output",
    "integration",
    "resources",
    "security",
}
# Part of a gold's name, but what anyone would call the thing: protocols, a standard module, and
# words too general to give a place away.
ORDINARY = {"http11", "http2", "asyncio", "value", "values", "string"}

Task = dict[str, Any]


@cache
def tasks_by_file() -> dict[str, list[Task]]:
    return {
        file.stem: yaml.safe_load(file.read_text("utf-8"))
        for file in sorted((FOLDER / "tasks").glob("*.yaml"))
    }


TASKS = [task for tasks in tasks_by_file().values() for task in tasks]


@cache
def last_definitions(package: str, path: str) -> dict[str, Symbol]:
    distribution = metadata.distribution(package)
    content = Path(str(distribution.locate_file(path))).read_bytes()
    return {symbol.symbol: symbol for symbol in read_symbols(path, content, module="").symbols}


def skip_unless_pinned(package: str) -> None:
    pins = json.loads((FOLDER / "pins.json").read_text("utf-8"))
    pinned = {pin["name"]: pin["version"] for pin in pins}[package]
    if (installed := metadata.version(package)) != pinned:
        pytest.skip(f"{package} {installed} is not the pinned {pinned}")


def name_parts(name: str) -> set[str]:
    spaced = re.sub(r"([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\3 \2", name)
    return {part.lower() for part in re.split(r"[^A-Za-z0-9]+", spaced) if part}


def given_away(task: Task) -> set[str]:
    """Words of five letters or more that the query shares with a gold symbol or its file."""
    query = task["query"]
    said = {word.rstrip("s") for word in name_parts(query)}
    said |= {re.sub(r"[^a-z0-9]", "", word.lower()).rstrip("s") for word in query.split()}
    names: set[str] = set()
    for gold in task["gold"]:
        names |= name_parts(gold["symbol"])
        names.add(Path(gold["path"]).stem.strip("_"))
    telling = {name for name in names if len(name) >= 5} - ORDINARY - set(PACKAGES) - {"init"}
    return {name for name in telling if name.rstrip("s") in said}


def test_there_are_enough_tasks_and_enough_of_each_package() -> None:
    assert len(TASKS) >= 120
    assert tuple(tasks_by_file()) == PACKAGES
    assert min(len(tasks) for tasks in tasks_by_file().values()) >= 8


def test_a_task_stands_in_the_file_of_a_package_of_its_gold() -> None:
    strays = [
        task["id"]
        for package, tasks in tasks_by_file().items()
        for task in tasks
        if package not in {gold["path"].split("/")[0] for gold in task["gold"]}
    ]
    assert strays == []


def test_ids_are_unique() -> None:
    counts = Counter(task["id"] for task in TASKS)
    assert [task_id for task_id, count in counts.items() if count > 1] == []


def test_no_question_is_asked_twice() -> None:
    assert len({" ".join(task["query"].lower().split()) for task in TASKS}) == len(TASKS)


def test_about_half_describe_a_function_and_the_rest_are_labelled_questions() -> None:
    described = [task for task in TASKS if task["kind"] == "describe"]
    asked = [task for task in TASKS if task["kind"] == "question"]
    assert len(described) + len(asked) == len(TASKS)
    assert 0.4 <= len(described) / len(TASKS) <= 0.6
    assert all("qa_type" not in task and "qa_subtype" not in task for task in described)
    assert {task["qa_subtype"] for task in asked} == SUBTYPES
    per_type = Counter(task["qa_type"] for task in asked)
    assert set(per_type) == {"what", "where", "how", "why"}
    assert min(per_type.values()) >= 10


def test_some_tasks_span_two_packages() -> None:
    spanning = [t for t in TASKS if len({gold["path"].split("/")[0] for gold in t["gold"]}) > 1]
    assert len(spanning) >= len(TASKS) / 12


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task["id"])
def test_gold_is_one_to_four_distinct_places_none_within_another(task: Task) -> None:
    places = [(gold["path"], gold["symbol"]) for gold in task["gold"]]
    assert 1 <= len(set(places)) == len(places) <= 4
    for path, symbol in places:
        assert not any(path == p and symbol.startswith(f"{s}.") for p, s in places)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task["id"])
def test_the_query_does_not_name_its_gold(task: Task) -> None:
    assert given_away(task) == set()


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("Which code strips credentials?", "credential"),  # plural in the query
        ("Why does BaseClient follow hops?", "client"),  # inside an identifier
        ("Look into _redirects.py", "redirects"),  # the file
    ],
)
def test_a_query_that_names_its_gold_is_noticed(query: str, word: str) -> None:
    gold = [{"path": "x/_redirects.py", "symbol": "HTTPClient.drop_credential"}]
    assert given_away({"query": query, "gold": gold}) == {word}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_gold_definition_is_the_one_that_was_read(package: str) -> None:
    skip_unless_pinned(package)
    read = yaml.safe_load((FOLDER / "fingerprints.yaml").read_text("utf-8"))["gold"]
    expected, found = {}, {}
    for path, symbol in {(g["path"], g["symbol"]) for task in TASKS for g in task["gold"]}:
        if path.startswith(f"{package}/"):
            definition = last_definitions(package, path).get(symbol)
            found[path, symbol] = definition and definition.fingerprint
            expected[path, symbol] = read.get(path, {}).get(symbol)
    assert found == expected
    assert None not in found.values()


@pytest.mark.parametrize("package", PACKAGES)
def test_no_gold_definition_is_a_stub_or_stands_inside_a_function(package: str) -> None:
    skip_unless_pinned(package)
    for gold in (gold for task in TASKS for gold in task["gold"]):
        if gold["path"].startswith(f"{package}/"):
            definitions = last_definitions(package, gold["path"])
            outer = gold["symbol"].rpartition(".")[0]
            assert definitions[gold["symbol"]].n_lines >= 3, gold
            assert not outer or definitions[outer].kind == "class", gold


def test_the_reading_record_has_one_entry_per_task() -> None:
    entries = yaml.safe_load((FOLDER / "reading.yaml").read_text("utf-8"))
    kept = [entry["id"] for entry in entries if entry["outcome"] != "removed"]
    assert sorted(kept) == sorted(task["id"] for task in TASKS)
    assert {entry["agreement"] for entry in entries} <= {"same", "overlap", "differs"}
    assert {entry["outcome"] for entry in entries} <= {
        "kept",
        "gold added",
        "gold changed",
        "question sharpened",
        "removed",
    }
    disagreed = [entry for entry in entries if entry["agreement"] != "same"]
    assert all(entry.get("first_only") or entry.get("second_only") for entry in disagreed)


def datasheet_table(first_column: str) -> dict[str, dict[str, int]]:
    """A table of the section `starter` in docs/datasets.md: row name -> column -> number."""
    text = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text("utf-8")
    section = text.split("\n## starter\n")[1].split("\n## ")[0]
    lines = section.split("\n")
    start = next(n for n, line in enumerate(lines) if line.startswith(f"| {first_column} |"))
    header, _, *rows = takewhile(lambda line: line.startswith("|"), lines[start:])
    columns = [cell.strip() for cell in header.strip("|").split("|")][1:]
    table = {}
    for row in rows:
        name, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        table[name] = dict(zip(columns, map(int, cells), strict=True))
    return table


def test_the_datasheet_counts_the_tasks_there_are() -> None:
    counted = {}
    for package, tasks in {**tasks_by_file(), "all": TASKS}.items():
        kinds = Counter(task.get("qa_type", task["kind"]) for task in tasks)
        counted[package] = {
            "tasks": len(tasks),
            **{kind: kinds[kind] for kind in ("describe", "what", "where", "how", "why")},
            "spanning": sum(
                len({gold["path"].split("/")[0] for gold in task["gold"]}) > 1 for task in tasks
            ),
            "gold": sum(len(task["gold"]) for task in tasks),
        }
    assert datasheet_table("package") == counted


def test_the_datasheet_counts_the_readings_there_are() -> None:
    table = datasheet_table("agreement")
    entries = yaml.safe_load((FOLDER / "reading.yaml").read_text("utf-8"))
    counts = Counter((entry["agreement"], entry["outcome"]) for entry in entries)
    for agreement, row in table.items():
        assert row.pop("tasks") == sum(row.values())
        for outcome, number in row.items():
            assert counts.pop((agreement, outcome), 0) == number, (agreement, outcome)
    assert counts == {}
