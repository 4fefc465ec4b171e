"""Before a dataset is used: gold scores 1 on every task and empty 0, through the real SQL."""

from __future__ import annotations

import pytest
from tests.ingest.toy_loaded import BOX, FILES, LOAD, RUN_BY_CODE, loaded, task

from evalake_ingest.editions.gold_answers import GoldTexts, gold_hits, load_gold_hits
from evalake_ingest.editions.pipeline import ingest
from evalake_ingest.editions.selfcheck import check_edition
from evalake_ingest.records import GoldItem, Qrel
from evalake_warehouse.errors import DatasetError
from evalake_warehouse.project import Project


@pytest.mark.dbt
def test_sound_gold_passes_by_all_relations_and_by_each_alone(project: Project) -> None:
    tasks = [
        task("nested", LOAD, BOX),
        task("code", RUN_BY_CODE),
        task("passage", GoldItem("p", "symbol", (Qrel("lines", None, "src/pkg/a.py", 2, 3),))),
        task("judged only", GoldItem("n", "symbol", LOAD.qrels, grade=0, role="admissible")),
        task(
            "words",
            GoldItem("w", "symbol", (Qrel("text", key="A passage long enough to judge. " * 3),)),
        ),
    ]
    done = ingest(project, loaded(tasks), check=check_edition)
    assert done.rows_kept == 5
    assert not list(project.home.glob("warehouse*"))


@pytest.mark.dbt
def test_gold_that_no_hit_can_match_fails_the_ingest_and_leaves_no_row(project: Project) -> None:
    too_short = GoldItem("w", "symbol", (Qrel("text", key="of"),))
    with pytest.raises(DatasetError) as raised:
        ingest(project, loaded([task("good", LOAD), task("bad", too_short)]), check=check_edition)
    told = {(problem.where, problem.what) for problem in raised.value.problems}
    assert told == {
        ("bad", "gold scores 0.0, expected 1.0"), ("bad", "gold by text scores 0.0, expected 1.0"),
    }  # fmt: skip
    assert list(project.lake.iterdir()) == []


def rows(*items: GoldItem) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    gold = [
        {"gold_id": one.gold_id, "level": one.level, "grade": one.grade, "role": one.role}
        for one in items
    ]
    qrels = [
        {
            "gold_id": one.gold_id, "relation": qrel.relation, "key": qrel.key, "path": qrel.path,
            "start_line": qrel.start_line, "end_line": qrel.end_line,
        }
        for one in items
        for qrel in one.qrels
    ]  # fmt: skip
    return gold, qrels


def test_perfect_hits_are_one_for_each_relevant_item_of_the_level() -> None:
    graded = GoldItem("a", "doc", (Qrel("doc_id", key="a"),), grade=1)
    better = GoldItem("b", "doc", (Qrel("doc_id", key="b"),), grade=3)
    judged = GoldItem("c", "doc", (Qrel("doc_id", key="c"),), role="admissible")
    other_level = GoldItem("d", "file", (Qrel("file", path="d.py"),))
    gold, qrels = rows(graded, better, judged, other_level)
    assert [hit.doc_id for hit in gold_hits(gold, qrels, level="doc")] == ["b", "a"]


def test_of_nested_definitions_the_inner_one_comes_first() -> None:
    gold, qrels = rows(BOX, LOAD)
    hits = gold_hits(gold, qrels, level="symbol")
    assert [hit.item_id for hit in hits] == ["src/pkg/a.py::Box.load", "src/pkg/a.py::Box"]
    assert (hits[0].path, hits[0].start_line, hits[0].end_line) == ("src/pkg/a.py", 2, 3)
    assert hits[0].qualified_name == "pkg.a.Box.load"


def test_a_hit_can_be_told_by_one_relation_alone() -> None:
    gold, qrels = rows(GoldItem("x", "symbol", (*LOAD.qrels, *RUN_BY_CODE.qrels)))
    texts = GoldTexts(by_fingerprint={str(RUN_BY_CODE.qrels[0].key): "def run(): ..."})
    (hit,) = gold_hits(gold, qrels, level="symbol", texts=texts, relation="fingerprint")
    assert (hit.text, hit.path, hit.qualified_name) == ("def run(): ...", None, None)


def test_hits_by_fingerprint_carry_the_corpus_own_source(project: Project) -> None:
    done = ingest(project, loaded([task("code", RUN_BY_CODE)]), check=None)
    (hit,) = load_gold_hits(project, "toy", done.edition)["code"]
    assert hit.text == FILES["src/pkg/b.py"].rstrip("\n")
