"""One edition: what it holds, what it left out, and that it is written once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.ingest.toy_loaded import BOX, FILES, LOAD, RUN_BY_CODE, loaded, task

from evalake_ingest.editions.catalogue import describe, list_drops, list_editions
from evalake_ingest.editions.edition import make_edition
from evalake_ingest.editions.pipeline import ingest
from evalake_ingest.publish import find_lake_file
from evalake_ingest.records import Drop, GoldItem, Qrel, Task
from evalake_warehouse.errors import DatasetError, UsageError
from evalake_warehouse.identity import sha256_text
from evalake_warehouse.project import Project


def lake_files(project: Project) -> set[Path]:
    return {path for path in project.lake.rglob("*.parquet") if "__schema" not in str(path)}


def rows(project: Project, table: str, edition: str) -> list[dict[str, object]]:
    file = find_lake_file(project.lake, table, "toy", edition)
    return pq.ParquetFile(file).read().to_pylist() if file else []


def test_the_same_edition_again_adds_nothing(project: Project) -> None:
    first = ingest(project, loaded([task("a", LOAD)]), check=None)
    before = {path: path.stat().st_mtime_ns for path in lake_files(project)}
    second = ingest(project, loaded([task("a", LOAD)]), check=None)
    assert (first.is_new, second.is_new) == (True, False)
    assert first.edition == second.edition
    assert {path: path.stat().st_mtime_ns for path in lake_files(project)} == before


def test_an_edition_that_comes_once_more_is_the_latest_again(project: Project) -> None:
    first = ingest(project, loaded([task("a", LOAD)]), check=None)
    ingest(project, loaded([task("a", BOX)]), check=None)
    again = ingest(project, loaded([task("a", LOAD)]), check=None)
    assert (again.is_new, again.is_latest_again, again.edition) == (False, True, first.edition)
    latest, *others = list_editions(project.lake)
    assert latest["edition"] == first.edition
    assert len(others) == 1
    assert not ingest(project, loaded([task("a", LOAD)]), check=None).is_latest_again


def test_a_changed_loader_makes_a_new_edition_and_names_the_changed_tasks(
    project: Project,
) -> None:
    ingest(project, loaded([task("a", LOAD), task("b", BOX), task("c", LOAD)]), check=None)
    done = ingest(
        project,
        loaded([task("a", LOAD), task("b", LOAD), task("d", LOAD)], loader_version="2"),
        check=None,
    )
    assert done.is_new
    assert done.changes is not None
    assert (done.changes.added, done.changes.removed, done.changes.changed) == (
        ("d",), ("c",), ("b",),
    )  # fmt: skip
    assert len(list_editions(project.lake)) == 2


@pytest.mark.parametrize("change", ["query", "gold", "revision", "loader_version", "corpus"])
def test_an_edition_is_named_by_all_that_was_loaded(project: Project, change: str) -> None:
    base = loaded([task("a", LOAD)])
    other = {
        "query": loaded([task("a", LOAD, query="another")]),
        "gold": loaded([task("a", LOAD, BOX)]),
        "revision": loaded([task("a", LOAD)], revision="2"),
        "loader_version": loaded([task("a", LOAD)], loader_version="2"),
        "corpus": replace(
            base,
            corpora=(replace(base.corpora[0], contents=FILES | {"new.py": ""}),),  # type: ignore[type-var]
        ),
    }[change]
    assert make_edition(project, base).edition != make_edition(project, other).edition


def test_the_order_of_tasks_does_not_name_an_edition(project: Project) -> None:
    one, other = [task("a", LOAD), task("b", BOX)], [task("b", BOX), task("a", LOAD)]
    assert (
        make_edition(project, loaded(one)).edition == make_edition(project, loaded(other)).edition
    )


def test_an_ingest_killed_before_its_mark_is_done_again(project: Project) -> None:
    done = ingest(project, loaded([task("a", LOAD)]), check=None)
    mark = find_lake_file(project.lake, "datasets", "toy", done.edition)
    corpora = next((project.lake / "corpora" / "dataset=toy").glob("*/*.parquet"))
    assert mark is not None
    mark.unlink()
    corpora.unlink()
    before = len(lake_files(project))
    assert ingest(project, loaded([task("a", LOAD)]), check=None).is_new
    assert len(lake_files(project)) == before + 2


def test_a_failed_check_leaves_no_row(project: Project) -> None:
    def refuse(*_: object) -> None:
        raise DatasetError("gold scores 0")

    with pytest.raises(DatasetError, match="gold scores 0"):
        ingest(project, loaded([task("a", LOAD)]), check=refuse)
    assert lake_files(project) == set()


def test_gold_that_is_not_in_the_corpus_is_dropped_with_a_reason(project: Project) -> None:
    nowhere = GoldItem("x.py", "file", (Qrel("file", path="x.py"),))
    other_code = GoldItem("y", "symbol", (Qrel("fingerprint", key="0" * 64),))
    edition = make_edition(
        project,
        loaded([task("kept", LOAD, nowhere), task("lost", other_code), task("gone", nowhere)]),
    )
    assert [one.task_id for one in edition.tasks] == ["kept"]
    assert {(drop.task_id, drop.reason) for drop in edition.drops} == {
        ("kept", "gold_not_in_corpus"), ("lost", "fingerprint_not_in_corpus"),
        ("gone", "gold_not_in_corpus"),
    }  # fmt: skip


def test_a_gold_item_keeps_the_relations_that_its_corpus_can_answer(project: Project) -> None:
    both = GoldItem("z", "symbol", (*RUN_BY_CODE.qrels, Qrel("symbol", "no.such.name")))
    (found,) = make_edition(project, loaded([task("a", both)])).tasks
    assert [qrel.relation for qrel in found.gold[0].qrels] == ["fingerprint"]


def test_symbol_gold_brings_file_gold_and_other_names(project: Project) -> None:
    done = ingest(project, loaded([task("a", LOAD, BOX)]), check=None)
    gold = {row["gold_id"]: row["level"] for row in rows(project, "gold", done.edition)}
    assert gold == {
        "src/pkg/a.py::Box.load": "symbol", "src/pkg/a.py::Box": "symbol", "src/pkg/a.py": "file",
    }  # fmt: skip
    qrels = rows(project, "qrels", done.edition)
    names = [row["key"] for row in qrels if row["gold_id"] == "src/pkg/a.py::Box.load"]
    assert names == ["pkg.a.Box.load", "src.pkg.a.Box.load", "a.Box.load", "Box.load"]


def test_symbol_gold_brings_its_file_beside_files_that_the_task_states(project: Project) -> None:
    stated = GoldItem("README.md", "file", (Qrel("file", path="README.md"),))
    (found,) = make_edition(project, loaded([task("a", LOAD, stated)])).tasks
    brought = found.gold[-1]
    assert [item.gold_id for item in found.gold] == [LOAD.gold_id, "README.md", "src/pkg/a.py"]
    assert (brought.level, brought.grade, brought.role) == ("file", 1, "primary")
    assert brought.qrels == (Qrel("file", path="src/pkg/a.py"),)


def test_a_file_that_the_task_states_is_not_brought_again(project: Project) -> None:
    stated = GoldItem(
        "the box", "file", (Qrel("file", path="src/pkg/a.py"),), grade=0, role="admissible"
    )
    (found,) = make_edition(project, loaded([task("a", LOAD, stated)])).tasks
    files = [(item.gold_id, item.role) for item in found.gold if item.level == "file"]
    assert files == [("the box", "admissible")]


def test_a_second_task_of_one_id_is_dropped_as_a_duplicate(project: Project) -> None:
    twice = [task("a", LOAD), replace(task("a", BOX), source_row="row 2")]
    edition = make_edition(project, loaded(twice))
    assert len(edition.tasks) == 1
    assert [(drop.source_row, drop.reason) for drop in edition.drops] == [
        ("row 2", "duplicate_task")
    ]


def test_a_row_that_vanishes_without_a_reason_is_refused(project: Project) -> None:
    with pytest.raises(DatasetError, match="3 rows read, but 1 kept and 1 dropped"):
        make_edition(project, loaded([task("a", LOAD)], [Drop("row 2", "no_gold")], rows_read=3))


def test_nothing_kept_is_refused_with_the_reasons(project: Project) -> None:
    with pytest.raises(DatasetError, match=r"no task was kept of 1 rows read \(no_gold 1"):
        make_edition(project, loaded([], [Drop("row 1", "no_gold")]))


def test_gold_text_is_stored_once_and_its_hash_is_the_key(project: Project) -> None:
    text = GoldItem("doc", "doc", (Qrel("text", key="the words"),))
    done = ingest(project, loaded([task("a", text), task("b", text)]), check=None)
    assert rows(project, "texts", done.edition) == [
        {
            "dataset": "toy", "text_sha256": sha256_text("the words"), "text": "the words",
            "origin": "gold", "corpus_id": None,
        }
    ]  # fmt: skip
    assert {row["key"] for row in rows(project, "qrels", done.edition)} == {
        sha256_text("the words")
    }


def test_the_catalogue_shows_what_was_read_kept_and_dropped(project: Project) -> None:
    drops = [Drop("row 2", "no_gold", "b"), Drop("row 3", "no_citation", "c", "nothing cited")]
    done = ingest(project, loaded([task("a", LOAD)], drops, caveats=("Small.",)), check=None)
    shown = describe(project.lake, "toy", done.edition[:4])
    assert (shown["rows_read"], shown["rows_kept"], shown["rows_dropped"]) == (3, 1, 2)
    assert shown["dropped_by_reason"] == {"no_citation": 1, "no_gold": 1}
    assert shown["caveats"] == ["Small."]
    (corpus,) = shown["corpora"]
    assert (corpus["repo"], corpus["n_files"], corpus["n_symbols"]) == ("o/pkg", 4, 4)
    assert [row["evidence"] for row in list_drops(project.lake, "toy", done.edition)] == [
        None, "nothing cited",
    ]  # fmt: skip


def test_a_dataset_that_is_not_there_gets_a_near_name(project: Project) -> None:
    ingest(project, loaded([task("a", LOAD)]), check=None)
    with pytest.raises(UsageError, match="did you mean `toy`"):
        describe(project.lake, "tou")


def test_a_name_that_cannot_be_a_folder_is_refused(project: Project) -> None:
    with pytest.raises(UsageError, match="cannot name a dataset"):
        ingest(project, loaded([task("a", LOAD)], name="../up"), check=None)


def test_gold_ids_are_unique_within_a_task(project: Project) -> None:
    clash: Task = task("a", LOAD, replace(LOAD, level="lines"))
    with pytest.raises(DatasetError, match="two gold items named"):
        make_edition(project, loaded([clash]))
