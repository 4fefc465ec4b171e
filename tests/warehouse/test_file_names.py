"""Names of datasets, systems, scenarios and corpora in paths."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from lake_factory import RunWriter, write_dataset

from evalake_warehouse.errors import LakeError, UsageError
from evalake_warehouse.file_names import file_name, is_file_name
from evalake_warehouse.lake.writer import write_rows
from evalake_warehouse.project import Project
from evalake_warehouse.questions.warehouse_files import warehouse_link

ODD = (
    "", ".", "..", "../x", "a/b", "a\\b", "/etc/passwd", "-rf", "a b", "a\nb", "a\0b", "a'b", 'a"b',
    "$HOME", "a*b", "a[1]", "%2e%2e", "con", "NUL.txt", "a.", "日本", "😀", "a\u202eb", "x" * 300,
    "~x",
)  # fmt: skip


@pytest.mark.parametrize("text", ODD)
def test_a_name_that_means_something_in_a_path_is_no_file_name(text: str) -> None:
    assert not is_file_name(text)


def test_any_text_has_a_file_name_of_its_own_that_stays_in_its_folder() -> None:
    made = [file_name(text) for text in ODD]
    assert all(map(is_file_name, made))
    assert len({name.lower() for name in made}) == len(ODD)


@pytest.mark.parametrize("text", ["bm25", "swe-qa", "pydocs_mcp", "v1.2+local", "user@1"])
def test_a_plain_name_is_its_own_file_name(text: str) -> None:
    assert file_name(text) == text


@pytest.mark.parametrize("text", ODD)
def test_no_such_name_reaches_the_lake_or_a_scenario(tmp_path: Path, text: str) -> None:
    row = {"dataset": text, "text_sha256": "s", "text": "t", "origin": "hit"}
    with pytest.raises(LakeError, match="cannot name"):
        write_rows(tmp_path, "texts", [row], dataset=text, run_date=date(2026, 1, 2), stem="s")
    row["dataset"] = "toy"
    with pytest.raises(LakeError, match="cannot name"):
        write_rows(tmp_path, "texts", [row], dataset="toy", run_date=date(2026, 1, 2), stem=text)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError, match="no scenario name"):
        warehouse_link(Project(home=tmp_path, data_dir=tmp_path), text)


def test_a_home_whose_name_is_a_pattern_is_read_as_it_is(tmp_path: Path) -> None:
    # As a pattern, `a*b` would also read the files of `axb`.
    for name in ("a*b", "axb"):
        home = tmp_path / name
        edition = write_dataset(home, {"t": {"a": 1}})
        RunWriter(home, edition).attempts({"t": [{"item_id": name}]})
    import duckdb

    from evalake_warehouse.lake.reader import list_lake, relation_sql

    sql = relation_sql("hits", list_lake(tmp_path / "a*b").paths("hits"))
    with duckdb.connect() as connection:
        assert connection.execute(f"select item_id from ({sql})").fetchall() == [("a*b",)]
