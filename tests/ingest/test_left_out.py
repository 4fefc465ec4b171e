"""What a source has and its corpus has not: rows in the lake, and gold that lies in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalake_cli.main import run_cli
from evalake_ingest.corpora.rules import SUFFIXES
from evalake_ingest.corpora.sources import DocumentRows, FolderSource
from evalake_ingest.editions.catalogue import describe, list_drops, list_left_out
from evalake_ingest.editions.pipeline import ingest
from evalake_ingest.records import DatasetInfo, GoldItem, Loaded, Qrel, Task
from evalake_warehouse.project import Project
from evalake_warehouse.vocabulary import Level

NEW_COLUMNS = {"language", "n_symbols", "edition", "reading", "n_files"}  # since version 2
FILES = {
    "src/main.ts": "export const lookup = (k: string) => k;\nexport class Auth { login() {} }\n",
    "src/a.py": "def alpha():\n    return 1\n\n\nclass Box:\n    def size(self): ...\n",
    "src/b.py": "class Lid:\n    def size(self): ...\n",
    "src/café.py": "x = 1\n",
    "node_modules/m/i.js": "x",
    "logo.bin": "\0",
}


def repo(root: Path, files: dict[str, str] = FILES) -> Path:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    return root


def write_tasks(file: Path, *gold: dict[str, Any]) -> Path:
    rows = [
        {"task_id": f"t{number}", "query": "alpha", "gold": [item]}
        for number, item in enumerate(gold, start=1)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run_cli(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_gold_of_any_language_is_found_and_what_is_not_says_why(
    capsys: pytest.CaptureFixture[str], project: Project, tmp_path: Path
) -> None:
    tasks = write_tasks(
        tmp_path / "tasks.jsonl",
        {"path": "src/main.ts"},
        {"symbol": "lookup"},  # a bare name that one definition has
        {"symbol": "Auth::login"},
        {"path": "src/cafe\u0301.py"},  # as a Mac spells it
        {"symbol": "size"},
        {"path": "logo.bin"},
        {"path": "node_modules/m/i.js"},
        {"path": "src/absent.ts"},
    )
    code, out, err = run(
        capsys, "import", "jsonl", "--dataset", "mix", "--tasks", str(tasks),
        "--corpus", str(repo(tmp_path / "repo")), "--json",
    )  # fmt: skip
    assert code == 0, err
    edition = json.loads(out)["dataset"]["edition"]
    drops = {row["task_id"]: row for row in list_drops(project.lake, "mix", edition)}
    assert {task: row["reason"] for task, row in drops.items()} == {
        "t5": "ambiguous_symbol", "t6": "file_left_out", "t7": "file_left_out",
        "t8": "gold_not_in_corpus",
    }  # fmt: skip
    assert drops["t5"]["evidence"].endswith("2 definitions have this name")
    assert drops["t6"]["evidence"].endswith("logo.bin: skipped_binary (a NUL byte at 0)")
    assert drops["t7"]["evidence"].endswith("node_modules/: skipped_vendored (installed packages)")
    gold = describe(project.lake, "mix")["gold_by_level"]
    assert gold == {"file": 4, "symbol": 2}
    _, out, err = run(capsys, "datasets", "show", "mix", "--drops")
    assert "skipped_binary 1, skipped_vendored 1" in out
    assert "node_modules/" in out


def test_an_import_says_what_it_lost_and_where_that_is_listed(
    capsys: pytest.CaptureFixture[str], project: Project, tmp_path: Path
) -> None:
    tasks = write_tasks(tmp_path / "t.jsonl", {"path": "src/a.py"}, {"path": "logo.bin"})
    code, _, err = run(
        capsys, "import", "jsonl", "--dataset", "mix", "--tasks", str(tasks),
        "--corpus", str(repo(tmp_path / "repo")), "--exclude", "*.ts",
    )  # fmt: skip
    assert code == 0
    assert "1 of 2 tasks dropped: 1 file_left_out" in err
    assert "left out of the corpus: 1 skipped_excluded: --exclude *.ts (src/main.ts)" in err
    assert "hint: evalake datasets show mix --drops" in err
    (corpus,) = describe(project.lake, "mix")["corpora"]
    assert corpus["rule"] == "text-1; --exclude *.ts"
    assert corpus["languages"] == {"python": 3}


def test_a_language_without_definitions_is_told(project: Project, tmp_path: Path) -> None:
    files = {"a.kt": "fun f() {}", "b.kt": "", "a.py": "def f(): pass", "README.md": "x"}
    folder(project, repo(tmp_path / "r", files))
    (corpus,) = describe(project.lake, "toy")["corpora"]
    assert corpus["languages"] == {"kotlin": 2, "python": 1}
    assert corpus["languages_without_definitions"] == {"kotlin": 2}
    rows = {row["path"]: row["n_symbols"] for row in lake_rows(project, "corpus_files")}
    assert rows == {"a.kt": None, "b.kt": None, "a.py": 1, "README.md": None}


def test_definitions_of_each_rule_are_in_the_lake_once(project: Project, tmp_path: Path) -> None:
    folder(project, repo(tmp_path / "r"))
    rows = {
        (row["qualified_name"], row["rule_version"]) for row in lake_rows(project, "corpus_symbols")
    }
    assert {("main.lookup", "tree-1"), ("main.Auth.login", "tree-1"), ("a.alpha", "ast-1")} <= rows
    assert len(rows) == 3 + 3 + 2


def test_what_was_left_out_does_not_depend_on_what_was_stored_before(
    project: Project, tmp_path: Path
) -> None:
    documents(project, "first", [("d1", "alpha"), ("d2", "beta")])
    more = [("d1", "alpha"), ("d2", "beta"), ("d1", "another"), ("d2", "beta")]
    edition = documents(project, "second", more)
    corpora = {name: describe(project.lake, name)["corpora"] for name in ("first", "second")}
    (first,), (second,) = corpora.values()
    assert first["corpus_id"] == second["corpus_id"]
    assert first["left_out_by_status"] == {}
    assert second["left_out_by_status"] == {"skipped_duplicate": 2}
    left_out = list_left_out(project.lake, "second", edition)
    told = ["another text; the first one counts", "the same text again"]
    assert [row["detail"] for row in left_out] == told


def test_two_editions_of_one_corpus_keep_what_each_left_out(
    project: Project, tmp_path: Path
) -> None:
    rows = [("d1", "alpha"), ("d2", "beta")]
    one = documents(project, "toy", rows, revision="1")
    two = documents(project, "toy", [*rows, ("d1", "other")], revision="2")
    assert [len(list_left_out(project.lake, "toy", edition)) for edition in (one, two)] == [0, 1]


def test_the_last_reading_of_one_edition_is_the_present_one(
    project: Project, tmp_path: Path
) -> None:
    root = repo(tmp_path / "r", {"a.py": "def f(): pass"})
    for names in (["x.bin"], ["x.bin", "y.bin"], ["x.bin", "y.bin"]):
        for name in names:
            (root / name).write_bytes(b"\0")
        edition = folder(project, root)
    left_out = list_left_out(project.lake, "toy", edition)
    assert [(row["path"], row["reading"]) for row in left_out] == [("x.bin", 2), ("y.bin", 2)]
    read = [row["reading"] for row in lake_rows(project, "corpus_files") if row["reading"]]
    assert sorted(read) == [1, 2, 2]  # the third reading said nothing new


def test_a_lake_of_an_earlier_version_tells_what_it_has_beside_the_files(
    project: Project, tmp_path: Path
) -> None:
    edition = folder(project, repo(tmp_path / "r", {"a.py": "", "x.bin": "\0"}))
    for file in (project.lake / "corpus_files").glob("dataset=toy/run_date=*/*-*.parquet"):
        file.unlink()
    (file,) = (project.lake / "corpus_files").glob("dataset=toy/run_date=*/*.parquet")
    table = pq.ParquetFile(file).read()
    columns = [name for name in table.schema.names if name not in NEW_COLUMNS]
    rows = table.select(columns).to_pylist()
    skipped = {**rows[0], "path": "out.py", "status": "skipped_link", "n_lines": None}
    file.unlink()
    pq.write_table(pa.Table.from_pylist([*rows, skipped]), file)
    assert [row["path"] for row in list_left_out(project.lake, "toy", edition)] == ["out.py"]
    (corpus,) = describe(project.lake, "toy")["corpora"]
    assert corpus["files_by_status"] == {"ok": 1, "skipped_link": 1}


def test_a_pinned_corpus_has_a_row_for_each_file_of_another_suffix(
    project: Project, tmp_path: Path
) -> None:
    edition = folder(project, repo(tmp_path / "r"), pinned=True)
    left_out = {row["path"]: row["status"] for row in list_left_out(project.lake, "toy", edition)}
    assert left_out == {
        "src/main.ts": "skipped_suffix", "logo.bin": "skipped_suffix",
        "node_modules/": "skipped_vendored",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--repo", "nonsense"], "`starter` cannot heed --repo; it is ingested whole"),
        (["--library", "x", "--archives", "."], "`starter` cannot heed --archives, --library"),
        (["--include", "*.ts"], "`starter` cannot heed --include"),
    ],
)
def test_a_flag_that_a_loader_cannot_heed_is_refused(
    capsys: pytest.CaptureFixture[str], project: Project, arguments: list[str], told: str
) -> None:
    code, _, err = run(capsys, "ingest", "starter", *arguments)
    assert code == 2
    assert told in err
    assert "hint: evalake ingest starter" in err


def test_a_refused_flag_is_told_with_those_that_select(
    capsys: pytest.CaptureFixture[str], project: Project
) -> None:
    _, _, err = run(capsys, "ingest", "ds1000", "--repo", "flask")
    assert "`ds1000` cannot heed --repo; it selects by --library" in err
    code, _, err = run(capsys, "ingest", "ds1000", "--narrow-corpus")
    assert (code, "--library, which is not given" in err) == (2, True)
    _, _, err = run(capsys, "ingest", "repoqa", "--library", "x")
    assert "it selects by --repo" in err


def test_globs_without_a_folder_are_refused(
    capsys: pytest.CaptureFixture[str], project: Project, tmp_path: Path
) -> None:
    tasks = write_tasks(tmp_path / "t.jsonl", {"path": "a.py"})
    code, _, err = run(
        capsys, "import", "jsonl", "--dataset", "d", "--tasks", str(tasks), "--include", "*.ts"
    )
    assert (code, "has no meaning without --corpus" in err) == (2, True)
    code, _, err = run(capsys, "run", "--system", "bm25", "--dataset", "d", "--include", "*.ts")
    assert (code, "has no meaning without --corpus-dir" in err) == (2, True)


def lake_rows(project: Project, table: str) -> list[dict[str, Any]]:
    files = (project.lake / table).glob("dataset=*/run_date=*/*.parquet")
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def folder(project: Project, root: Path, *, pinned: bool = False) -> str:
    source = FolderSource("c", "folder r", root)
    if pinned:
        source = FolderSource("c", "folder r", root, rule=SUFFIXES)
    path = "src/a.py" if (root / "src").is_dir() else "a.py"
    gold = GoldItem(path, "file", (Qrel("file", path=path),))
    return _ingest(project, "toy", source, gold, "1")


def documents(
    project: Project, name: str, rows: list[tuple[str, str]], *, revision: str = "1"
) -> str:
    source = DocumentRows("c", "rows", lambda: iter(rows))
    return _ingest(project, name, source, GoldItem("d1", "doc", (Qrel("doc_id", "d1"),)), revision)


def _ingest(
    project: Project, name: str, source: FolderSource | DocumentRows, gold: GoldItem, revision: str
) -> str:
    level: Level = gold.level
    info = DatasetInfo(name, revision, "1", "here", "none", "none", level, "recall@10", "all")
    task = Task("t1", "question", "alpha", "c", (gold,))
    return ingest(project, Loaded(info, (source,), [task], (), 1), check=None).edition
