"""Gold that a task's corpus adds or takes away: which items make a task, and whose file gold is."""

from __future__ import annotations

from dataclasses import replace

from tests.ingest.toy_loaded import BOX, LOAD, RUN_BY_CODE, loaded, task

from evalake_ingest.editions.edition import make_edition
from evalake_ingest.records import GoldItem, Qrel
from evalake_warehouse.project import Project

GONE = GoldItem("gone", "file", (Qrel("file", path="src/pkg/gone.py"),))
DOCS = GoldItem("README.md", "file", (Qrel("file", path="README.md"),))


def levels(project: Project, *gold: GoldItem) -> dict[str, tuple[str, int]]:
    """Role and grade of each gold item that is left, by id."""
    (completed,) = make_edition(project, loaded([task("a", *gold)])).tasks
    return {item.gold_id: (item.role, item.grade) for item in completed.gold}


def dropped(project: Project, *gold: GoldItem) -> list[str]:
    """Tasks that are left of one with this gold and one that stays."""
    return [kept.task_id for kept in make_edition(
        project, loaded([task("a", *gold), task("stays", LOAD)])
    ).tasks]  # fmt: skip


def test_core_gold_makes_a_task_like_primary_gold_and_other_roles_do_not(project: Project) -> None:
    assert dropped(project, GONE, replace(DOCS, role="core")) == ["a", "stays"]
    assert dropped(project, GONE, replace(DOCS, role="primary")) == ["a", "stays"]
    assert dropped(project, GONE, replace(DOCS, role="touched")) == ["stays"]
    assert dropped(project, GONE, replace(DOCS, role="admissible")) == ["stays"]
    assert dropped(project, replace(GONE, role="core"), replace(DOCS, role="touched")) == ["stays"]


def test_a_task_that_never_had_relevant_gold_is_kept(project: Project) -> None:
    assert dropped(project, replace(GONE, role="touched")) == ["a", "stays"]
    assert dropped(project) == ["a", "stays"]


def test_a_file_has_the_role_and_grade_of_the_best_gold_in_it(project: Project) -> None:
    path = "src/pkg/a.py"
    assert levels(project, replace(LOAD, grade=1), replace(BOX, grade=3))[path] == ("primary", 3)
    assert levels(project, replace(LOAD, grade=3), replace(BOX, grade=1))[path] == ("primary", 3)
    # What is relevant comes before what is only graded higher.
    touched = replace(BOX, grade=3, role="touched")
    assert levels(project, touched, replace(LOAD, grade=1))[path] == ("primary", 1)
    assert levels(project, touched, replace(LOAD, grade=1, role="core"))[path] == ("core", 1)
    # Of equals the first.
    assert levels(project, replace(LOAD, role="core"), BOX)[path] == ("core", 1)


def test_gold_without_a_path_brings_no_file(project: Project) -> None:
    assert list(levels(project, RUN_BY_CODE)) == ["src/pkg/b.py::run"]


def test_an_item_is_kept_by_any_relation_that_its_corpus_can_answer(project: Project) -> None:
    lines = Qrel("lines", path="src/pkg/gone.py", start_line=1, end_line=2)
    here = replace(lines, path="src/pkg/b.py")
    assert dropped(project, GoldItem("l", "symbol", (lines,))) == ["stays"]
    assert dropped(project, GoldItem("l", "symbol", (lines, here))) == ["a", "stays"]
    elsewhere = Qrel("symbol", "pkg.a.Box", "src/pkg/gone.py", 1, 6)
    assert dropped(project, GoldItem("s", "symbol", (elsewhere,))) == ["stays"]
    assert dropped(project, GoldItem("s", "symbol", (Qrel("symbol", "pkg.a.Box"),))) == [
        "a", "stays",
    ]  # fmt: skip
    assert dropped(project, GoldItem("d", "doc", (Qrel("doc_id", "README.md"),))) == ["a", "stays"]
    assert dropped(project, GoldItem("d", "doc", (Qrel("doc_id", "gone"),))) == ["stays"]
    assert dropped(project, GoldItem("t", "doc", (Qrel("text", "any text"),))) == ["a", "stays"]
