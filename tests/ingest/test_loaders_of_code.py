"""Loaders whose corpora are repositories, on files in the originals' schemas."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.ingest.loading import archive, by_id, gold, gzipped_json, jsonl, load, reasons

from evalake_ingest.loaders.repoqa import locate
from evalake_ingest.loaders.swe_bench import names_a_file
from evalake_ingest.loaders.swe_qa_pins import PINS
from evalake_ingest.originals.patches import added_files, changed_files
from evalake_warehouse.errors import DatasetError, UsageError
from evalake_warehouse.project import Project

CODE = '''\
class Merger:
    @cached
    def merge(self, parts):
        """Join parts — all of them."""
        return ''.join(parts)  # in order


def use(parts):
    return Merger().merge(parts)
'''


def repoqa_row(**changes: Any) -> dict[str, Any]:
    # As in the release: lines from 0, the end exclusive; decorators outside the needle.
    needle = {
        "name": "merge", "start_line": 2, "end_line": 5, "start_byte": 28, "end_byte": 140,
        "code_ratio": 0.1, "path": "src/tool/a.py", "description": "\n1. **Purpose**: To join.\n",
    }  # fmt: skip
    return {
        "repo": "o/tool", "commit_sha": "1" * 40, "entrypoint_path": "src/tool", "topic": "t",
        "content": {"src/tool/__init__.py": "", "src/tool/a.py": CODE, "src/toolkit/b.py": "x"},
        "dependency": {}, "functions": {}, "needles": [needle | changes],
    }  # fmt: skip


def release(folder: Path, *rows: dict[str, Any], other: Any = ()) -> Path:
    gzipped_json(folder / "repoqa-2024-06-23.json.gz", {"python": rows, "rust": list(other)})
    return folder


def test_a_repoqa_needle_is_known_by_code_name_and_lines(project: Project, tmp_path: Path) -> None:
    edition = load(project, "repoqa", release(tmp_path, repoqa_row()))
    (task,) = edition.tasks
    assert task.query == "1. **Purpose**: To join."
    assert gold(task, "symbol") == {"src/tool/a.py::Merger.merge": "primary"}
    fingerprint, symbol = task.gold[0].qrels[:2]
    assert fingerprint.relation == "fingerprint"
    assert (symbol.key, symbol.start_line, symbol.end_line) == ("tool.a.Merger.merge", 2, 5)
    assert gold(task, "file") == {"src/tool/a.py": "primary"}


@pytest.mark.parametrize(
    ("name", "end_line", "found"),
    [
        ("size", 4, "Old.size"),
        ("size", 8, "New.size"),  # of two of one name, the one that ends there
        ("size", 7, None),
        ("New", 8, "New"),  # ends in the same line
        ("siz", 8, None),
        ("New.size", 8, None),  # a needle's name is the last part alone
    ],
)
def test_a_repoqa_needle_is_the_definition_of_its_name_that_ends_in_its_line(
    name: str, end_line: int, found: str | None
) -> None:
    code = "class Old:\n" "    def size(self):\n        a = 1\n        return a\n" "class New:\n" \
        "    def size(self):\n        a = 2\n        return a\n"  # fmt: skip
    symbol = locate({"content": {"a.py": code}}, "a.py", name, end_line)
    assert (symbol.symbol if symbol else None) == found


def test_repoqa_rows_that_cannot_be_used_are_dropped_with_their_reason(
    project: Project, tmp_path: Path
) -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"description": ""},
        {"path": "src/tool/none.py"},
        {"start_line": 3},  # begins inside the function
    ]
    row = repoqa_row()
    row["needles"] = [repoqa_row(**change)["needles"][0] for change in changes]
    edition = load(project, "repoqa", release(tmp_path, row, other=[repoqa_row()]))
    assert edition.dropped_by_reason == {
        "fingerprint_not_in_corpus": 1, "gold_not_in_corpus": 1, "missing_field": 1,
        "not_selected": 1,
    }  # fmt: skip
    assert (edition.rows_read, len(edition.tasks)) == (5, 1)


def test_a_release_that_is_not_the_pinned_one_is_refused(project: Project, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="expected c050a2ad90a7df89") as raised:
        load(project, "repoqa", release(tmp_path, repoqa_row()), revision=None)
    assert raised.value.hint == "evalake ingest repoqa"  # which fetches the pinned one


def test_a_partial_copy_under_its_own_name_says_so(project: Project, tmp_path: Path) -> None:
    gzipped_json(tmp_path / "repoqa-2024-06-23.partial-python.json.gz", {"python": [repoqa_row()]})
    edition = load(project, "repoqa", tmp_path, revision=None)
    assert edition.info.revision.startswith("2024-06-23-partial+sha256:")
    assert "partial copy" in edition.info.caveats[-1]


def test_a_truncated_release_is_refused(project: Project, tmp_path: Path) -> None:
    whole = release(tmp_path, repoqa_row()) / "repoqa-2024-06-23.json.gz"
    whole.write_bytes(whole.read_bytes()[:-40])
    with pytest.raises(DatasetError, match="truncated or not gzip"):
        load(project, "repoqa", tmp_path)


@pytest.mark.parametrize(
    ("value", "told"),
    [([1], "another schema"), ({"python": [{"repo": "a"}]}, "lacks commit_sha, content, needles")],
)
def test_a_release_of_another_schema_is_refused(
    project: Project, tmp_path: Path, value: object, told: str
) -> None:
    gzipped_json(tmp_path / "repoqa-2024-06-23.json.gz", value)
    with pytest.raises(DatasetError, match=told):
        load(project, "repoqa", tmp_path)


def structural(**changes: Any) -> dict[str, Any]:
    row = {
        "query": "join", "gold_ast_body": "def use(parts):\n    return Merger().merge(parts)\n",
        "repo": "o/tool", "commit": "1" * 40, "needle_path": "src/tool/a.py",
        "seed_qname": "tool.a.Merger.merge", "gold_qname": "tool.a.use", "gold_kind": "caller",
        "hop_distance": 1,
    }  # fmt: skip
    return row | changes


def test_structural_gold_is_the_neighbour_and_the_needle_is_admissible(
    project: Project, tmp_path: Path
) -> None:
    release(tmp_path / "repoqa", repoqa_row())
    rows = [
        structural(),
        # The stored body of a class is not the whole class: its name must do.
        structural(
            gold_qname="tool.a.Merger", gold_ast_body="class Merger: ...", gold_kind="callee"
        ),
        structural(gold_qname="tool.a.none"),
        structural(repo="o/other"),
    ]
    source = tmp_path / "repoqa-structural"
    source.mkdir()
    (source / "structural_recall.json").write_text(json.dumps({"python": rows}))
    (tmp_path / "repoqa" / "repoqa-2024-06-23.json.gz").rename(
        tmp_path / "repoqa" / "repoqa-2024-06-23.partial-python.json.gz"
    )
    edition = load(project, "repoqa-structural", source)
    caller, callee = edition.tasks
    assert gold(caller, "symbol") == {
        "src/tool/a.py::use": "primary", "src/tool/a.py::Merger.merge": "admissible",
    }  # fmt: skip
    relations = [{qrel.relation for qrel in task.gold[0].qrels} for task in (caller, callee)]
    assert relations == [{"symbol", "fingerprint"}, {"symbol"}]
    assert edition.dropped_by_reason == {"corpus_unavailable": 1, "gold_not_in_corpus": 1}


def swe_qa(folder: Path, **answers: list[str | None]) -> Path:
    for name in PINS:
        rows = [{"question": f"Where is {name}?", "answer": text} for text in answers.get(name, [])]
        jsonl(folder / "data" / f"{name}.jsonl", rows)
    return folder


def test_swe_qa_gold_is_the_cited_files_of_the_pinned_repository(
    project: Project, tmp_path: Path
) -> None:
    files = {"src/flask/a.py": "x = 1\n", "src/flask/sub/a.py": "", "tests/b.py": ""}
    archive(tmp_path / "archives", "pallets/flask", PINS["flask"].commit, files)
    source = swe_qa(
        tmp_path,
        flask=[
            "In `src/flask/a.py` (lines 1-1) and `b.py`.",
            "In `a.py`.",
            "No idea.",
            None,
            "`z.py`",
        ],
        requests=["In `sessions.py`."],
    )
    edition = load(project, "swe-qa", source, archives_dir=tmp_path / "archives")
    (task,) = edition.tasks
    assert (task.task_id, task.repo, task.qa_type) == ("flask-001", "pallets/flask", "where")
    assert gold(task, "file") == {"src/flask/a.py": "primary", "tests/b.py": "primary"}
    assert [item.evidence for item in task.gold] == ["src/flask/a.py", "b.py"]
    assert reasons(edition) == {
        ("flask.jsonl:2", "ambiguous_basename"): 1, ("flask.jsonl:3", "no_citation"): 1,
        ("flask.jsonl:4", "null_answer"): 1, ("flask.jsonl:5", "unresolved_citation"): 1,
        ("requests.jsonl:1", "corpus_unavailable"): 1,
    }  # fmt: skip


def test_repo_narrows_swe_qa_and_an_unknown_one_is_refused(
    project: Project, tmp_path: Path
) -> None:
    archive(tmp_path / "archives", "pallets/flask", PINS["flask"].commit, {"a.py": ""})
    source = swe_qa(tmp_path, flask=["`a.py`"], requests=["`a.py`"])
    edition = load(project, "swe-qa", source, archives_dir=tmp_path / "archives", repos=("flask",))
    assert reasons(edition) == {("requests.jsonl:1", "not_selected"): 1}
    with pytest.raises(
        UsageError, match=r"no repository flsk; did you mean flask\? \(there are: astropy"
    ):
        load(project, "swe-qa", source, repos=("flsk",))


def test_every_missing_file_is_named(project: Project, tmp_path: Path) -> None:
    jsonl(tmp_path / "data" / "flask.jsonl", [])
    with pytest.raises(DatasetError) as raised:
        load(project, "swe-qa", tmp_path)
    assert len(raised.value.problems) == len(PINS) - 1
    assert "looked for data/astropy.jsonl" in str(raised.value)


def pro(**changes: Any) -> dict[str, Any]:
    row = {
        "repo": "o/tool", "commit_id": "1" * 40, "cluster": {"id": "0.0", "name": "joins"},
        "qa_type": {"class_name": "Where (Localization Queries)", "sub_class_name": "Location"},
        "question": "Where?",
        "answer": "At line 3 in a.py, and in `src/tool/a.py` (lines 8-9), lines 90-99 of a.py.",
    }  # fmt: skip
    return row | changes


def test_swe_qa_pro_has_files_lines_and_symbols(project: Project, tmp_path: Path) -> None:
    archive(tmp_path / "archives", "o/tool", "1" * 40, {"src/tool/a.py": CODE})
    rows = [
        pro(),
        pro(qa_type={"class_name": "Where", "sub_class_name": "Location"}, answer="`a.py`"),
        pro(answer=None),
        pro(repo="o/none"),
    ]
    source = tmp_path / "pro"
    jsonl(source / "data" / "test.jsonl", rows)
    edition = load(project, "swe-qa-pro", source, archives_dir=tmp_path / "archives")
    first, second = edition.tasks
    assert gold(first, "file") == {"src/tool/a.py": "primary"}
    assert gold(first, "lines") == {"src/tool/a.py#L8-L9": "primary"}
    assert gold(first, "symbol") == {
        "src/tool/a.py::Merger.merge": "primary", "src/tool/a.py::use": "primary",
    }  # fmt: skip
    assert {first.qa_type, second.qa_type} == {"where"}
    assert (first.stratum, first.qa_subtype) == ("0.0", "Location")
    assert edition.dropped_by_reason == {"corpus_unavailable": 1, "null_answer": 1}


PATCH = """\
diff --git a/src/a.py b/src/a.py
--- a/src/a.py
+++ b/src/a.py
@@ -1 +1 @@
--- a comment that looks like a header
+x = 2
diff --git a/src/new.py b/src/new.py
new file mode 100644
--- /dev/null
+++ b/src/new.py
@@ -0,0 +1 @@
+y = 1
diff --git a/src/old name.py b/src/moved.py
similarity index 90%
rename from src/old name.py
rename to src/moved.py
"""


def test_a_diff_tells_what_was_there_before_it() -> None:
    assert changed_files(PATCH) == ["src/a.py", "src/old name.py"]
    assert added_files(PATCH) == ["src/new.py"]


def test_a_bare_diff_without_git_headers_is_read_too() -> None:
    assert changed_files("--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-1\n+2\n") == ["x.py"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("crashes in `src/a.py`, line 3", True), ("File \"/usr/lib/src/a.py\"", True),
        ("a.py:12", True),
        ("test_a.py fails", False), ("the a module", False), ("a.pyx", False),
    ],
)  # fmt: skip
def test_a_statement_names_a_file_only_as_a_whole_word(text: str, named: bool) -> None:
    assert names_a_file(text, ["src/a.py"]) == named


def swe_bench(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "data" / "SWE-bench_Verified" / "test.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return folder


def test_swe_bench_gold_is_what_the_fix_changed(project: Project, tmp_path: Path) -> None:
    files = {"src/a.py": "x = 1\n", "src/old name.py": "", "tests/test_a.py": ""}
    archive(tmp_path / "archives", "o/tool", "1" * 40, files)
    row = {
        "repo": "o/tool", "instance_id": "o__tool-1", "base_commit": "1" * 40, "patch": PATCH,
        "test_patch": "--- a/tests/test_a.py\n+++ b/tests/test_a.py\n",
        "problem_statement": "in a.py", "hints_text": "",
    }  # fmt: skip
    only_new = PATCH[PATCH.index("diff --git a/src/new") : PATCH.index("diff --git a/src/old")]
    rows = [
        row,
        row | {"instance_id": "o__tool-2", "patch": only_new},
        row | {"instance_id": "o__tool-3", "base_commit": "2" * 40},
    ]
    edition = load(
        project,
        "swe-bench-verified",
        swe_bench(tmp_path, *rows),
        archives_dir=tmp_path / "archives",
    )
    task = by_id(edition)["o__tool-1"]
    assert gold(task, "file") == {
        "src/a.py": "primary", "src/old name.py": "primary", "tests/test_a.py": "admissible",
    }  # fmt: skip
    assert task.labels["statement_names_gold"] == "yes"
    assert edition.dropped_by_reason == {"corpus_unavailable": 1, "no_gold": 1}


def test_a_torn_or_other_parquet_file_is_refused(project: Project, tmp_path: Path) -> None:
    folder = swe_bench(tmp_path, {"repo": "o/tool"})
    with pytest.raises(DatasetError, match="lacks columns instance_id"):
        load(project, "swe-bench-verified", folder)
    file = folder / "data" / "SWE-bench_Verified" / "test.parquet"
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(DatasetError, match="truncated or not Parquet"):
        load(project, "swe-bench-verified", folder)


def test_issue_tasks_keep_the_roles_of_their_files(project: Project, tmp_path: Path) -> None:
    files = dict.fromkeys(("a.py", "b.py", "c.py", "d.md", "t.py"), "")
    archive(tmp_path / "archives", "o/tool", "1" * 40, files)
    base = {
        "repo": "o/tool", "repo_url": "https://example.org/o/tool", "query": "why",
        "corpus_commit": "1" * 40, "truth_method": "merged-fix-diff",
    }  # fmt: skip
    rows: list[dict[str, Any]] = [
        base | {"task_id": "l", "kind": "locate", "primary_file": "a.py",
                "gold_files": ["a.py", "b.py"], "touched_files": ["a.py", "b.py", "t.py"]},
        base | {"task_id": "i", "kind": "impact", "primary_file": "a.py", "seed_file": "a.py",
                "gold_files": ["a.py", "b.py"], "core_files": ["b.py"], "touched_files": ["t.py"]},
        base | {"task_id": "r", "kind": "references", "symbol": "f", "gold_files": ["c.py"],
                "core_files": ["c.py"], "admissible_files": ["d.md"]},
    ]  # fmt: skip
    jsonl(tmp_path / "tasks.jsonl", rows)
    edition = load(project, "issue-tasks", tmp_path, archives_dir=tmp_path / "archives")
    tasks = by_id(edition)
    assert gold(tasks["l"], "file") == {"a.py": "primary", "b.py": "core", "t.py": "touched"}
    assert gold(tasks["i"], "file") == {"b.py": "core", "a.py": "touched", "t.py": "touched"}
    assert gold(tasks["r"], "file") == {"c.py": "core", "d.md": "admissible"}


def test_a_gzip_that_is_none_is_refused(project: Project, tmp_path: Path) -> None:
    (tmp_path / "repoqa-2024-06-23.json.gz").write_bytes(b"<html>not found</html>")
    with pytest.raises(DatasetError, match="truncated or not gzip"):
        load(project, "repoqa", tmp_path)
    (tmp_path / "repoqa-2024-06-23.json.gz").write_bytes(gzip.compress(b"{"))
    with pytest.raises(DatasetError, match="not JSON"):
        load(project, "repoqa", tmp_path)
