"""The shipped systems, each on a corpus small enough to work out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from driving import arm, run, statuses
from toy import ROOT, ToyCorpus, ingest_toy, rows

from evalake_runners.adapters.chunking import Chunk, chunk_file
from evalake_runners.adapters.controls import draw_distinct
from evalake_runners.adapters.protocol import CorpusView, Query, RawHit
from evalake_runners.adapters.registry import get_adapter
from evalake_runners.adapters.ripgrep import best_window, question_words, word_weights
from evalake_runners.adapters.setup import Setup
from evalake_runners.adapters.words import code_tokens
from evalake_warehouse.project import Project
from evalake_warehouse.relevance.tree_reader import TreeReader

SOURCE = '''\
import os

LIMIT = 3


class Shape:
    """A shape."""

    sides = 0

    @property
    def area(self):
        def inner():
            return 1

        return inner()

    if LIMIT:
        def grow(self): pass


def measure(shape):
    return shape.area


print(measure)
'''


TYPESCRIPT = """\
import x from "y";

export class Shape {
  sides = 0;

  @Log()
  area() {
    const inner = () => 1;
    return inner();
  }

  grow() {}
}
export const measure = (shape) => shape.area();
console.log(measure);
"""


def cut(
    path: str, text: str, module: str, *, window_lines: int = 60, overlap_lines: int = 10
) -> tuple[list[Chunk], str]:
    with TreeReader() as trees:
        return chunk_file(
            path, text, module, trees, window_lines=window_lines, overlap_lines=overlap_lines
        )


def test_other_languages_are_cut_as_python_is() -> None:
    chunks, how = cut("web/shape.ts", TYPESCRIPT, "web.shape")
    assert how == "parsed"
    assert [(c.start_line, c.end_line, c.qualified_name) for c in chunks] == [
        (1, 2, None),
        (3, 5, "web.shape.Shape"),
        (6, 10, "web.shape.Shape.area"),
        (12, 12, "web.shape.Shape.grow"),
        (14, 14, "web.shape.measure"),
        (15, 15, None),
    ]
    assert "sides = 0" in chunks[1].text
    assert "area" not in chunks[1].text


def test_a_language_without_definitions_is_cut_into_windows() -> None:
    chunks, how = cut("a.kt", "fun f() {}\n", "a")
    assert (how, [(c.start_line, c.end_line) for c in chunks]) == ("windows", [(1, 1)])


def test_python_is_cut_into_functions_classes_and_the_code_between() -> None:
    chunks, how = cut("pkg/a.py", SOURCE, "pkg.a")
    assert how == "parsed"
    assert [(c.start_line, c.end_line, c.qualified_name) for c in chunks] == [
        (1, 5, None),
        (6, 10, "pkg.a.Shape"),
        (11, 16, "pkg.a.Shape.area"),
        (19, 19, "pkg.a.Shape.grow"),
        (22, 23, "pkg.a.measure"),
        (24, 26, None),
    ]
    shape = chunks[1].text
    assert "sides = 0" in shape
    assert "def area" not in shape


def test_a_file_that_does_not_parse_is_cut_into_overlapping_windows() -> None:
    text = "def broken(:\n" + "\n".join(f"line {n}" for n in range(2, 26))
    chunks, how = cut("a.py", text, "a", window_lines=10, overlap_lines=2)
    assert how == "unparsable"
    assert [(c.start_line, c.end_line) for c in chunks] == [(1, 10), (9, 18), (17, 25)]


def test_identifiers_are_indexed_whole_and_in_parts() -> None:
    assert code_tokens("HTTPBasicAuth(user_name, x2)") == [
        "httpbasicauth", "http", "basic", "auth", "user_name", "user", "name", "x2", "x", "2",
    ]  # fmt: skip


def test_a_question_becomes_its_content_words_once_each() -> None:
    question = "How does the Client follow redirects, and where is a redirect's client kept?"
    assert question_words(question, 3) == ["client", "follow", "redirects", "redirect", "kept"]


def test_a_rare_word_weighs_more_and_a_window_counts_it_once() -> None:
    rare, common = frozenset({"rare"}), frozenset({"common"})
    found = {
        "a": {1: common, 2: common, 3: common},
        "b": {1: common, 40: rare, 45: common},
        "c": {7: common},
    }
    weights = word_weights(found, ["rare", "common"], n_files=9)
    assert weights["rare"] == pytest.approx(2.302585)  # ln(1 + 9 / 1)
    assert weights["common"] == pytest.approx(1.386294)  # ln(1 + 9 / 3)
    assert best_window(found["a"], weights, 30) == (weights["common"], (1, 1))
    score, span = best_window(found["b"], weights, 30)
    assert (score, span) == (pytest.approx(3.688879), (40, 45))


def test_chance_draws_distinct_items_by_seed_and_reaches_each_one_alike() -> None:
    items = [f"f{n}" for n in range(20)]
    draws = [draw_distinct(items, 5, seed=seed) for seed in range(4_000)]
    assert all(len(set(drawn)) == 5 for drawn in draws)
    assert draw_distinct(items, 5, seed=3) == draws[3]
    assert sorted(draw_distinct(items, 50, seed=1)) == sorted(items)
    for item in items:
        # 4,000 draws at 1/4: standard deviation 27, so 5 of them on either side.
        assert abs(sum(item in drawn for drawn in draws) - 1_000) < 137


MIXED = {
    "src/app.ts": b"export const zebra = 1;\n", ".github/workflows/ci.yml": b"zebra: push\n",
    ".gitignore": b"*\nsrc/\n", ".ignore": b"*\n", "main.go": b"package zebra\n",
}  # fmt: skip


@pytest.mark.parametrize("system", ["bm25", "ripgrep"])
def test_hidden_and_ignored_files_of_a_corpus_are_searched(
    system: str, project: Project, tmp_path: Path
) -> None:
    view = view_of(tmp_path, MIXED)
    made = get_adapter(system).make(get_adapter(system).config_model(), setup(project))
    made.index(view, tmp_path)
    hits = made.open(view, tmp_path).search(Query("t", "zebra", 10, 0)).hits
    assert {hit.raw_path for hit in hits} == {"src/app.ts", ".github/workflows/ci.yml", "main.go"}


def test_files_that_ripgrep_does_not_read_for_their_size_are_counted(
    project: Project, tmp_path: Path
) -> None:
    adapter = get_adapter("ripgrep")
    files = {"a.txt": b"x" * 1_024, "b.txt": b"x" * 1_025, "c.txt": b"x" * 2_000}
    made = adapter.make(adapter.config_model(max_filesize="1K"), setup(project))
    report = made.index(view_of(tmp_path, files), tmp_path)
    assert report.counts == {"files": 3, "files_too_large": 2}


def view_of(tmp_path: Path, files: dict[str, bytes]) -> CorpusView:
    root = tmp_path / "files"
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return CorpusView("c", "files", root, tuple(sorted(files)))


def setup(project: Project) -> Setup:
    return Setup("d", "e", 10, 0, project, ())


@pytest.mark.parametrize("system", ["bm25", "ripgrep"])
def test_a_lexical_system_finds_the_file_that_has_the_words(system: str, toy: Project) -> None:
    run(toy, arm(system))
    assert {status for status, _ in statuses(toy).values()} == {"ok"}
    best = {row["task_id"]: row for row in rows(toy, "hits") if row["rank"] == 1}
    for number in range(12):
        hit = best[f"task-{number:05d}"]
        assert hit["path"] == f"pkg/mod_{number:02d}.py"
        assert hit["start_line"] >= 1
        assert hit["text_sha256"] is not None


@pytest.mark.parametrize("system", ["bm25", "ripgrep", "gold", "random", "empty"])
def test_a_corpus_of_documents_is_answered_with_doc_ids(system: str, project: Project) -> None:
    documents = {f"doc-{n}": f"All about topic{n}.\nMore.".encode() for n in range(12)}
    ingest_toy(project, corpora=[ToyCorpus(documents, kind="documents")])
    run(project, arm(system))
    hits = [row for row in rows(project, "hits") if row["rank"] == 1]
    assert all(row["path"] is None and row["doc_id"] in documents for row in hits)
    if system in {"bm25", "ripgrep", "gold"}:
        assert {row["task_id"]: row["doc_id"] for row in hits} == {
            f"task-{n:05d}": f"doc-{n}" for n in range(12)
        }
    else:
        assert len(hits) == (12 if system == "random" else 0)


def test_gold_answers_the_gold_and_empty_is_no_failure(toy: Project) -> None:
    gold, empty = run(toy, arm("gold"), arm("empty"))
    assert gold.statuses == {"ok": 12}
    assert empty.statuses == {"empty": 12}
    paths = {row["task_id"]: row["path"] for row in rows(toy, "hits")}
    assert paths == {f"task-{n:05d}": f"pkg/mod_{n:02d}.py" for n in range(12)}


def test_another_folder_can_be_searched_and_makes_another_arm(toy: Project, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "mod_03.py").write_text("def handle_topic3(): pass\n")
    own, other = run(toy, arm("bm25"), replace(arm("bm25", label="other"), corpus_dir=folder))
    assert own.cell.arm.arm_hash != other.cell.arm.arm_hash
    found = {row["path"] for row in rows(toy, "hits") if row["run_id"] == other.run_id}
    assert found == {"pkg/mod_03.py"}
    assert other.statuses.total() == 12
    again = run(toy, replace(arm("bm25", label="other"), corpus_dir=folder))
    assert [result.state for result in again] == ["done"]


def test_the_example_in_the_docs_is_a_system(
    toy: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = (ROOT / "docs" / "systems.md").read_text().split("```python\n")[1].split("```")[0]
    (tmp_path / "my_documented_system.py").write_text(example)
    monkeypatch.syspath_prepend(str(tmp_path))
    (result,) = run(toy, arm("python:my_documented_system"))
    assert result.statuses == {"ok": 12}


HOSTILE = {
    "nested_calls.py": b"(" * 50_000 + b")" * 50_000,
    "nested_unary.py": b"-" * 200_000 + b"1",
    "nested_attributes.py": b"a" + b".b" * 50_000,
    "nested_lists.py": b"x = " + b"[" * 90 + b"]" * 90,
    "nested_ifs.py": b"".join(b" " * n + b"if x:\n" for n in range(99)) + b" " * 99 + b"pass\n",
    "invalid_utf8.py": b"def f():\n    return '\xff\xfe'\n",
    "null_bytes.py": b"def f():\n    return '\x00'\n",
    "latin.py": "# -*- coding: latin-1 -*-\ndef caf\xe9(): pass\n".encode("latin-1"),
    "huge_line.py": b"x = '" + b"a" * 5_000_000 + b"'\n",
    "long_number.py": b"x = " + b"9" * 10_000,
    "many_definitions.py": b"".join(b"def f%d(): pass\n" % n for n in range(3_000)),
    "empty.py": b"",
    "only_newlines.md": b"\n" * 10_000,
    "separators.md": "one\u2028two\x0cthree\r\nfour topic1\n".encode(),
    "fine.py": b"def topic1_handler():\n    return 'topic1'\n",
}


@pytest.mark.parametrize("system", ["bm25", "ripgrep"])
def test_a_hostile_corpus_is_indexed_and_its_good_file_found(system: str, project: Project) -> None:
    ingest_toy(project, n_tasks=12, corpora=[ToyCorpus({**HOSTILE, **_modules()})])
    run(project, arm(system, depth=20))
    assert {status for status, _ in statuses(project).values()} == {"ok"}
    found = {row["path"] for row in rows(project, "hits") if row["task_id"] == "task-00001"}
    assert "fine.py" in found


def test_a_link_out_of_the_corpus_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "corpus"
    root.mkdir()
    (tmp_path / "secret.py").write_text("def secret_topic(): pass\n")
    (root / "link.py").symlink_to(tmp_path / "secret.py")
    (root / "good.py").write_text("def good_topic(): pass\n")
    for system in ("bm25", "ripgrep"):
        hits = _search(system, root, ("good.py", "link.py"), "secret_topic", tmp_path / system)
        assert [hit.raw_path for hit in hits if hit.raw_path != "good.py"] == []


def _search(
    system: str, root: Path, paths: tuple[str, ...], question: str, folder: Path
) -> Sequence[RawHit]:
    adapter = get_adapter(system)
    project = Project(home=folder, data_dir=folder)
    made = adapter.make(adapter.config_model(), Setup("d", "e", 5, 0, project, ()))
    view = CorpusView("c", "files", root, paths)
    folder.mkdir()
    made.index(view, folder)
    return made.open(view, folder).search(Query("t", question, 5, 0)).hits


def _modules() -> dict[str, bytes]:
    return {f"pkg/mod_{n:02d}.py": b"def handle_topic%d(): pass\n" % n for n in range(12)}
