"""docs/datasets.md tells of every dataset and every reason."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from evalake_ingest.benchmarks import BENCHMARKS
from evalake_ingest.originals.line_schema import (
    AnswerLine,
    DocumentLine,
    GoldLine,
    HitLine,
    TaskLine,
)
from evalake_ingest.records import DropReason, SkipStatus
from evalake_warehouse.relevance.grammars import GRAMMARS

PAGE = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text("utf-8")


def test_every_dataset_has_a_section() -> None:
    sections = set(re.findall(r"^## (.+)$", PAGE, re.MULTILINE))
    assert set(BENCHMARKS) <= sections


def test_every_reason_to_drop_a_row_is_explained() -> None:
    explained = re.findall(r"^\| `(\w+)` \| ", PAGE, re.MULTILINE)
    assert set(get_args(DropReason)) == {one for one in explained if "skipped_" not in one}


def test_every_reason_to_leave_a_file_out_is_explained() -> None:
    first_cells = re.findall(r"^\| (`skipped_[^|]*) \| ", PAGE, re.MULTILINE)
    explained = {name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)}
    assert set(get_args(SkipStatus)) == explained


def test_every_language_with_definitions_is_named() -> None:
    told = {"c": "C,", "cpp": "C++", "csharp": "C#", "tsx": "`.tsx`", "php": "PHP"}
    assert all(told.get(name, name).lower() in PAGE.lower() for name in GRAMMARS)


def test_every_key_of_the_imported_schema_is_named() -> None:
    models = (TaskLine, GoldLine, DocumentLine, AnswerLine, HitLine)
    keys = {key for model in models for key in model.model_fields}
    assert keys <= set(re.findall(r"`(\w+)`", PAGE))
