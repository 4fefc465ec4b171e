"""Which files of a folder are corpus, and what is said of the others."""

from __future__ import annotations

import tarfile
import unicodedata
from pathlib import Path

import pytest

from evalake_ingest.corpora.rules import MAX_TEXT_BYTES, SUFFIXES, TEXT, CorpusRule
from evalake_ingest.corpora.sources import ArchiveSource, FolderSource, MemorySource
from evalake_ingest.corpora.store import count_left_out, store_corpus
from evalake_ingest.records import CorpusDocument, SkippedDocument
from evalake_warehouse.errors import DatasetError, UsageError
from evalake_warehouse.project import Project


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def read(root: Path, rule: CorpusRule = TEXT) -> tuple[set[str], dict[str, tuple[str, int]]]:
    entries = list(FolderSource("f", "folder", root, rule=rule).documents())
    kept = {entry.path for entry in entries if isinstance(entry, CorpusDocument)}
    left = {
        entry.path: (entry.status, entry.n_files)
        for entry in entries
        if isinstance(entry, SkippedDocument)
    }
    return kept, left


MIXED: dict[str, str | bytes] = {
    "src/a.ts": "x", ".github/workflows/ci.yml": "on: push", ".gitignore": "*.ts", "empty.go": "",
    "café.py": "x = 1", "data.csv": "a,b", "package.json": "{}", "logo.png": b"\x89PNG\r\n",
    "package-lock.json": "{}", "app.min.js": "x", "big.sql": b"x" * (MAX_TEXT_BYTES + 1),
    "node_modules/a/i.js": "x", "node_modules/b/i.js": "x", ".git/HEAD": "ref",
    "env/pyvenv.cfg": "home", "env/lib/x.py": "x", "dist/app.js": "x",
    "vendor/modules.txt": "x", "vendor/x/x.go": "x", "pkg/dist/__init__.py": "",
    "build/__init__.py": "",
    "sub/dist/kept.js": "no project file stands beside it",
}  # fmt: skip


def test_every_text_file_is_corpus_and_every_other_has_a_reason(tmp_path: Path) -> None:
    kept, left = read(write(tmp_path, MIXED))
    assert kept == {
        "src/a.ts", ".github/workflows/ci.yml", ".gitignore", "empty.go", "café.py", "data.csv",
        "package.json", "pkg/dist/__init__.py", "sub/dist/kept.js", "build/__init__.py",
    }  # fmt: skip
    assert left == {
        "logo.png": ("skipped_binary", 1), "package-lock.json": ("skipped_generated", 1),
        "app.min.js": ("skipped_generated", 1), "big.sql": ("skipped_size", 1),
        "node_modules/": ("skipped_vendored", 2), ".git/": ("skipped_vendored", 1),
        "env/": ("skipped_vendored", 2), "dist/": ("skipped_vendored", 1),
        "vendor/": ("skipped_vendored", 2),
    }  # fmt: skip


def test_an_archive_of_a_folder_is_read_like_the_folder(project: Project, tmp_path: Path) -> None:
    root = write(tmp_path / "repo", MIXED)
    archive = tmp_path / "repo.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(root, "repo-1")
    of_folder = store_corpus(project, FolderSource("f", "folder", root))
    of_archive = store_corpus(project, ArchiveSource("a", "archive", archive, rule=TEXT))
    assert of_folder.corpus_id == of_archive.corpus_id
    assert of_folder.left_out == of_archive.left_out


def test_a_pinned_rule_keeps_its_suffixes_and_counts_the_others(tmp_path: Path) -> None:
    kept, left = read(write(tmp_path, MIXED | {"null.txt": b"a\0b"}), SUFFIXES)
    assert kept == {
        "café.py", "env/lib/x.py", "env/pyvenv.cfg", "vendor/modules.txt", "pkg/dist/__init__.py",
        "build/__init__.py", "null.txt",
    }  # fmt: skip
    assert left["src/a.ts"] == ("skipped_suffix", 1)
    assert left["node_modules/"] == ("skipped_vendored", 2)


@pytest.mark.parametrize(
    ("include", "exclude", "kept"),
    [
        (["*.ts"], [], {"src/a.ts"}),
        (["src/", "*.csv"], [], {"src/a.ts", "data.csv"}),
        (["dist/**"], [], {"dist/app.js"}),
        (["**/dist/**"], [], {"dist/app.js", "pkg/dist/__init__.py", "sub/dist/kept.js"}),
        (["/dist/**", "package-lock.json"], [], {"dist/app.js", "package-lock.json"}),
        (["*.js", "!app*"], [], {"sub/dist/kept.js"}),
        (["*.min.js"], [], {"app.min.js"}),
        (["*"], ["*.*", "!*.csv"], {"data.csv"}),
        (["cafe\u0301.py"], [], {"café.py"}),
    ],
)
def test_globs_mean_what_they_mean_in_a_gitignore(
    tmp_path: Path, include: list[str], exclude: list[str], kept: set[str]
) -> None:
    found, _ = read(write(tmp_path, MIXED), TEXT.narrowed(include, exclude))
    assert found == kept


def test_an_excluded_folder_is_one_row(tmp_path: Path) -> None:
    _, left = read(write(tmp_path, MIXED), TEXT.narrowed(exclude=["src", "*.csv"]))
    assert left["src/"] == ("skipped_excluded", 1)
    assert left["data.csv"] == ("skipped_excluded", 1)


def test_include_stands_in_place_of_a_list_of_suffixes(tmp_path: Path) -> None:
    kept, _ = read(write(tmp_path, MIXED), SUFFIXES.narrowed(include=["*.ts"]))
    assert kept == {"src/a.ts"}
    assert SUFFIXES.narrowed(exclude=["docs/"]).suffixes == SUFFIXES.suffixes


@pytest.mark.parametrize("glob", ["", "/", "!", "#x"])
def test_a_glob_that_matches_nothing_is_refused(glob: str) -> None:
    with pytest.raises(UsageError, match="matches no file"):
        TEXT.narrowed(exclude=[glob])


def test_what_a_folder_that_cannot_be_opened_holds_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path, {"a.py": "", "shut/b.py": "", "c.py": ""})
    real_list, real_read = Path.iterdir, Path.read_bytes

    def refuse(path: Path) -> None:
        if path.name in {"shut", "c.py"}:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", lambda path: refuse(path) or real_list(path))
    monkeypatch.setattr(Path, "read_bytes", lambda path: refuse(path) or real_read(path))
    kept, left = read(root)
    assert kept == {"a.py"}
    assert left == {"shut/": ("skipped_unreadable", 1), "c.py": ("skipped_unreadable", 1)}


def test_a_folder_without_corpus_is_refused_with_what_it_has(
    project: Project, tmp_path: Path
) -> None:
    root = write(tmp_path, {"a.png": b"\x89PNG", "b.png": b"\x89PNG", "node_modules/x.js": ""})
    with pytest.raises(DatasetError, match=r"2 skipped_binary, 1 skipped_vendored, such as"):
        store_corpus(project, FolderSource("f", "folder repo", root))
    empty = tmp_path / "node_modules" / "empty"
    empty.mkdir()
    with pytest.raises(DatasetError, match="it is empty"):
        store_corpus(project, FolderSource("f", "folder", empty))
    assert list(project.corpora.iterdir()) == []


def test_a_corpus_that_is_not_at_hand_may_be_empty(project: Project) -> None:
    assert store_corpus(project, MemorySource("m", "not at hand", {})).paths == ()


def test_two_compositions_of_one_name_are_two_files(project: Project, tmp_path: Path) -> None:
    names = [unicodedata.normalize(form, "café.py") for form in ("NFC", "NFD")]
    stored = store_corpus(
        project, FolderSource("f", "folder", write(tmp_path, dict.fromkeys(names, "x")))
    )
    assert set(stored.paths) == set(names)


def test_a_project_inside_the_folder_does_not_read_itself(project: Project, tmp_path: Path) -> None:
    assert project.home.is_relative_to(tmp_path)
    write(tmp_path, {"a.py": "", f"{project.home.name}/corpora/x/files/b.py": ""})
    stored = store_corpus(project, FolderSource("f", "folder", tmp_path))
    assert stored.paths == ("a.py",)
    assert [(file.path, file.detail) for file in stored.left_out] == [
        (f"{project.home.name}/", "the state of evalake itself")
    ]


def test_folders_count_as_the_files_that_they_hold(project: Project, tmp_path: Path) -> None:
    stored = store_corpus(project, FolderSource("f", "folder", write(tmp_path / "r", MIXED)))
    assert count_left_out(stored.left_out) == {
        "skipped_binary": 1, "skipped_generated": 2, "skipped_size": 1, "skipped_vendored": 8,
    }  # fmt: skip
