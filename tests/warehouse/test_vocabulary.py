"""Closed lists of words stand in one place, and everything that names them agrees with it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from lake_factory import RunWriter, docs

from evalake_warehouse import vocabulary
from evalake_warehouse.errors import LakeError
from evalake_warehouse.vocabulary_macros import render_macros

ROOT = Path(__file__).parents[2]
MACROS = ROOT / "warehouse" / "dbt-project" / "macros" / "vocabulary"
# Lists that rules decide by; of the others, some words stand side by side for other reasons.
DECIDING = (
    vocabulary.ATTEMPT_STATUSES,
    vocabulary.RELEVANT_ROLES,
    vocabulary.CONTROL_SYSTEMS,
    (*vocabulary.FINDING_NOTHING, "gold"),
    vocabulary.OUTPUTS,
    vocabulary.TEST_SPLITS,
    vocabulary.SUSPECT_REASONS,
)
ACCEPTED = {
    "suspect_reason": vocabulary.SUSPECT_REASONS,
    "caution": vocabulary.RUN_CAUTIONS,
    "baseline_kind": vocabulary.BASELINE_KINDS,
    "verdict": vocabulary.VERDICTS,
}


def test_the_macros_are_those_of_the_vocabulary() -> None:
    stored = {file.name: file.read_text(encoding="utf-8") for file in MACROS.glob("*.sql")}
    assert stored == render_macros(), "stale: python -m evalake_warehouse.vocabulary_macros"


def accepted_values() -> list[tuple[str, list[str]]]:
    """(column, words) of every contract that closes a column."""
    found: list[tuple[str, list[str]]] = []
    for file in (ROOT / "models").rglob("*.yml"):
        for model in yaml.safe_load(file.read_text(encoding="utf-8")).get("models", []):
            for column in model.get("columns", []):
                tests: list[Any] = column.get("data_tests", [])
                found += [
                    (column["name"], test["accepted_values"]["arguments"]["values"])
                    for test in tests
                    if isinstance(test, dict) and "accepted_values" in test
                ]
    return found


def test_contracts_accept_the_words_of_the_vocabulary() -> None:
    found = accepted_values()
    assert {column for column, _ in found} == ACCEPTED.keys()
    for column, words in found:
        assert tuple(words) == ACCEPTED[column], column


def source_files() -> list[Path]:
    folders = ["cli", "ingest", "models", "reports", "runners", "warehouse"]
    files = [path for name in folders for path in (ROOT / name).rglob("*")]
    return [
        path
        for path in files
        if path.suffix in {".py", ".sql", ".js"} and "vocabulary" not in str(path)
    ]


def test_no_other_place_lists_the_words_again() -> None:
    neighbours = {
        pair
        for words in DECIDING
        for first, second in itertools.pairwise(words)
        for pair in ((first, second), (second, first))
    }
    listed = re.compile(r"""(["'])([a-z_@0-9]+)\1,\s*(["'])([a-z_@0-9]+)\3""")
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in source_files()
        for match in listed.finditer(path.read_text(encoding="utf-8"))
        if (match[2], match[4]) in neighbours
    ]
    assert found == []


def test_parts_of_a_list_are_words_of_it() -> None:
    assert {*vocabulary.ANSWERED, *vocabulary.UNANSWERED} == {*get_args(vocabulary.AttemptStatus)}
    assert {*vocabulary.FINDING_NOTHING, *vocabulary.FOLLOWING_GOLD} == {
        *vocabulary.CONTROL_SYSTEMS
    }


def test_the_lake_takes_no_other_word(tmp_path: Path) -> None:
    run = RunWriter(tmp_path, "e")
    with pytest.raises(LakeError, match=r"column 'role' has \['champion'\]; it takes baseline, "):
        run.event("started", n_tasks=1, role="champion")
    with pytest.raises(LakeError, match="column 'status' has"):
        run.attempts({"t": "crashed", "u": docs("a")})
    run.event("started", n_tasks=1, role=None)
