"""Lake files: validated, whole or not there, never overwritten, readable forever."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalake_warehouse.errors import LakeError
from evalake_warehouse.lake.reader import list_lake, relation_sql
from evalake_warehouse.lake.schemas import TABLES
from evalake_warehouse.lake.writer import write_rows

DAY = date(2026, 1, 2)
RUN = "01a22c53-1db4-766b-ae66-2b8eddbdded7"
VERSIONS = Path(__file__).parent / "lakes"


def hit(**fields: Any) -> dict[str, Any]:
    base = {"dataset": "d", "run_id": RUN, "task_id": "t", "attempt": 1, "rank": 1, "item_id": "x"}
    return base | fields


def write(home: Path, rows: list[dict[str, Any]], stem: str = RUN) -> Path | None:
    return write_rows(home / "lake", "hits", rows, dataset="d", run_date=DAY, stem=stem)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (hit(ranke=2), r"unknown columns \['ranke'\]"),
        (hit(rank=None), "'rank' may not be NULL"),
        (hit(rank="first"), "column 'rank'"),
        (hit(rank=1.5), "column 'rank'"),
        (hit(dataset="other"), "of dataset 'other', not 'd'"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_and_nothing_is_written(
    tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    with pytest.raises(LakeError, match=message):
        write(tmp_path, [hit(), row])
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    path = write(tmp_path, [hit()])
    assert path is not None
    before = path.read_bytes()
    with pytest.raises(LakeError, match="never overwritten"):
        write(tmp_path, [hit(rank=2)])
    assert path.read_bytes() == before
    assert not list(tmp_path.rglob("*.tmp"))


def test_the_layout_is_table_dataset_date_and_stem(tmp_path: Path) -> None:
    path = write(tmp_path, [hit()], stem=f"{RUN}-00001")
    assert path == tmp_path / "lake/hits/dataset=d/run_date=2026-01-02" / f"{RUN}-00001.parquet"
    file = list_lake(tmp_path).files[0]
    assert (file.table, file.dataset, file.owner) == ("hits", "d", RUN)


def test_a_file_of_a_newer_schema_is_named_and_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, [hit()])
    assert path is not None
    table = pq.read_table(path).replace_schema_metadata({"evalake.version": "99"})
    pq.write_table(table, path.with_name("newer.parquet"))
    listing = list_lake(tmp_path)
    assert [file.path for file in listing.files] == [path]
    assert "newer than this evalake reads" in listing.problems[0].what


def test_a_column_of_another_type_is_named_and_not_silently_widened(tmp_path: Path) -> None:
    path = write(tmp_path, [hit()])
    assert path is not None
    table = pq.read_table(path)
    wrong = table.set_column(table.schema.get_field_index("rank"), "rank", pa.array(["first"]))
    pq.write_table(wrong, path.with_name("wrong.parquet"))
    problem = list_lake(tmp_path).problems[0]
    assert problem.where.endswith("wrong.parquet")
    assert "rank string" in problem.what


def test_a_file_that_changed_on_disk_is_checked_again(tmp_path: Path) -> None:
    path = write(tmp_path, [hit()])
    assert path is not None
    assert not list_lake(tmp_path).problems
    path.write_bytes(path.read_bytes()[:-9])
    assert len(list_lake(tmp_path).problems) == 1


def test_columns_that_old_files_lack_are_null(tmp_path: Path) -> None:
    path = write(tmp_path, [hit()])
    assert path is not None
    old = pq.read_table(path).drop_columns(["branch", "reason"])
    pq.write_table(old, path.with_name("old.parquet"))
    sql = relation_sql("hits", list_lake(tmp_path).paths("hits"))
    found = duckdb.sql(f"select count(*) as n, count(branch) as branches from ({sql})").fetchall()
    assert found == [(2, 0)]


@pytest.mark.parametrize("table", sorted(TABLES))
def test_an_empty_table_has_all_its_columns(table: str) -> None:
    assert duckdb.sql(relation_sql(table, [])).columns == TABLES[table].schema.names


@pytest.mark.parametrize("version", sorted(path.name for path in VERSIONS.iterdir()))
def test_a_lake_of_every_version_is_read_in_full(version: str) -> None:
    files = sorted((VERSIONS / version).glob("*.parquet"))
    assert {file.stem for file in files} >= {"hits", "attempts", "runs", "tasks", "gold", "qrels"}
    for file in files:
        read = duckdb.sql(relation_sql(file.stem, [file]))
        assert read.columns == TABLES[file.stem].schema.names
        assert len(read.fetchall()) == pq.read_metadata(file).num_rows > 0


def test_runs_of_the_first_version_declare_no_branches_and_stay_beside_later_ones() -> None:
    files = sorted(VERSIONS.glob("*/runs.parquet"))
    found = duckdb.sql(
        f"select arm_label, branches_json from ({relation_sql('runs', files)}) "
        "where event = 'started' and branches_json is not null"
    )
    assert found.fetchall() == [("two branches", '["bm25","dense"]')]
    first = duckdb.sql(relation_sql("runs", [VERSIONS / "v1" / "runs.parquet"]))
    assert {row["branches_json"] for row in first.to_arrow_table().to_pylist()} == {None}
