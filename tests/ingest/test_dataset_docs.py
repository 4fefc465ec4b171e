"""docs/datasets.md tells of every dataset and every reason."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from evalake_ingest.imports.schema import AnswerLine, DocumentLine, GoldLine, HitLine, TaskLine
from evalake_ingest.loaders import LOADERS
from evalake_ingest.records import DropReason

PAGE = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text("utf-8")


def test_every_dataset_has_a_section() -> None:
    sections = set(re.findall(r"^## (.+)$", PAGE, re.MULTILINE))
    assert set(LOADERS) <= sections


def test_every_reason_to_drop_a_row_is_explained() -> None:
    assert set(get_args(DropReason)) == set(re.findall(r"^\| `(\w+)` \| ", PAGE, re.MULTILINE))


def test_every_key_of_the_imported_schema_is_named() -> None:
    models = (TaskLine, GoldLine, DocumentLine, AnswerLine, HitLine)
    keys = {key for model in models for key in model.model_fields}
    assert keys <= set(re.findall(r"`(\w+)`", PAGE))
