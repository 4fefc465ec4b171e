"""Corpora: read from anywhere, identified by content, laid out whole, hostile files survived."""

from __future__ import annotations

import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from evalake_ingest.corpora.archives import read_archive
from evalake_ingest.corpora.paths import MAX_FILE_BYTES, clean_path
from evalake_ingest.corpora.rules import MAX_TEXT_BYTES, CorpusRule
from evalake_ingest.corpora.sources import (
    ArchiveSource,
    DocumentRows,
    FolderSource,
    MemorySource,
)
from evalake_ingest.corpora.store import load_symbols, open_corpus, read_files, store_corpus
from evalake_ingest.records import CorpusDocument, SkippedDocument
from evalake_warehouse.errors import DatasetError, UsageError
from evalake_warehouse.identity import corpus_id, sha256_text
from evalake_warehouse.project import Project

PYTHON = CorpusRule("python", lambda _: None, suffixes=(".py",))
FILES = {"pkg/__init__.py": "def f():\n    return 1\n", "README.md": "hello"}


def tarball(path: Path, members: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def encoded(files: dict[str, str], top: str = "") -> dict[str, bytes]:
    return {top + path: text.encode() for path, text in files.items()}


def test_one_content_has_one_id_wherever_it_comes_from(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (folder / ".git").mkdir()
    (folder / ".git" / "config.txt").write_text("not part of it")
    (folder / "logo.png").write_bytes(b"\x89PNG")
    archive = tarball(tmp_path / "a.tar.gz", encoded(FILES, "repo-1234/"))
    sources = [
        MemorySource("m", "memory", FILES),
        FolderSource("f", "folder", folder),
        ArchiveSource("a", "archive", archive),
    ]
    ids = {store_corpus(project, source).corpus_id for source in sources}
    assert ids == {corpus_id({path: sha256_text(text) for path, text in FILES.items()})}
    assert [path.name for path in project.corpora.iterdir()] == list(ids)


def test_a_stored_corpus_opens_with_its_sorted_paths(project: Project) -> None:
    stored = store_corpus(project, MemorySource("m", "memory", FILES))
    opened = open_corpus(project, stored.corpus_id)
    assert opened.paths == ("README.md", "pkg/__init__.py")
    assert (opened.root / "pkg/__init__.py").read_text() == FILES["pkg/__init__.py"]
    (symbol,) = load_symbols(project, stored.corpus_id)
    assert (symbol.qualified_name, symbol.start_line, symbol.end_line) == ("pkg.f", 1, 2)


def test_documents_are_one_parquet_file_and_a_second_of_one_id_is_left_out(
    project: Project,
) -> None:
    rows = [("b", "two"), ("a", "one"), ("b", "again")]
    stored = store_corpus(project, DocumentRows("d", "rows", lambda: iter(rows)))
    assert stored.paths == ("a", "b")
    table = pq.read_table(stored.root / "documents.parquet").to_pylist()
    assert table == [{"doc_id": "b", "text": "two"}, {"doc_id": "a", "text": "one"}]
    assert [file.status for file in read_files(project, stored.corpus_id)] == ["ok", "ok"]
    (left,) = stored.left_out
    assert (left.path, left.status, left.detail) == (
        "b", "skipped_duplicate", "another text; the first one counts",
    )  # fmt: skip


def test_an_unknown_corpus_is_a_usage_error(project: Project) -> None:
    with pytest.raises(UsageError, match="not laid out"):
        open_corpus(project, "0" * 64)


def test_a_hostile_folder_is_recorded_and_survived(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    (tmp_path / "secret.py").write_text("password = 1")
    (folder / "good.py").write_text("def good(): pass\n")
    (folder / "nested.py").write_text("x = " + "-" * 100_000 + "1")
    (folder / "latin.py").write_bytes(b"def caf\xe9(): pass\n")
    (folder / "broken.py").write_text("def (:\n")
    (folder / "null.py").write_bytes(b"x = 1\0\n")
    (folder / "late.md").write_bytes(b"text " * 20_000 + b"\0")
    (folder / "wide.txt").write_text("text", encoding="utf-16")
    (folder / "noise.dat").write_bytes(bytes(range(1, 256)) * 4)
    (folder / "long.py").write_text("x = '" + "a" * 1_500_000 + "'\n")
    (folder / "huge.txt").write_bytes(b"a" * (MAX_TEXT_BYTES + 1))
    (folder / "out.py").symlink_to(tmp_path / "secret.py")
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    os.mkfifo(folder / "pipe.py")
    (folder / "bad\nname.py").write_text("")
    stored = store_corpus(project, FolderSource("h", "folder", folder))
    statuses = {file.path: file.status for file in read_files(project, stored.corpus_id)}
    assert statuses == {
        "good.py": "ok", "nested.py": "too_deep", "latin.py": "undecodable",
        "broken.py": "unparsable", "long.py": "too_large",
    }  # fmt: skip
    assert {file.path: file.status for file in stored.left_out} == {
        "huge.txt": "skipped_size", "out.py": "skipped_link", "pipe.py": "skipped_special",
        "bad\nname.py": "skipped_path", "null.py": "skipped_binary", "late.md": "skipped_binary",
        "wide.txt": "skipped_encoding", "noise.dat": "skipped_binary", "loop": "skipped_link",
    }  # fmt: skip
    details = {file.path: file.detail for file in stored.left_out}
    assert details["loop"] == f"a link inside the folder: {folder}"
    assert details["out.py"] == f"a link out of the folder: {tmp_path / 'secret.py'}"
    assert [symbol.symbol for symbol in load_symbols(project, stored.corpus_id)] == ["good"]
    laid_out = {path.name for path in stored.root.rglob("*") if path.is_file()}
    assert laid_out == set(statuses)


def test_two_names_of_one_file_on_a_case_blind_disk_do_not_overwrite(project: Project) -> None:
    class Twice(MemorySource):
        def documents(self) -> Iterator[CorpusDocument | SkippedDocument]:
            yield CorpusDocument("a.py", b"1")
            yield CorpusDocument("a.py", b"2")
            yield CorpusDocument("a.py/b.py", b"3")

    stored = store_corpus(project, Twice("t", "twice", {}))
    assert (stored.root / "a.py").read_bytes() == b"1"
    assert stored.paths == ("a.py",)


def test_a_corpus_that_fails_half_way_leaves_nothing(project: Project) -> None:
    def rows() -> Iterator[tuple[str, str]]:
        yield "a", "text"
        raise DatasetError("torn")

    with pytest.raises(DatasetError):
        store_corpus(project, DocumentRows("d", "rows", rows))
    assert list(project.corpora.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd", "../up.py", "a/../../up.py", "C:/windows.py", "a\\b.py", "", ".", "a\0b",
        "a\nb", "\udcff.py", "x" * 300, "/".join(["abcdefgh"] * 200),
    ],
)  # fmt: skip
def test_a_path_that_must_not_be_written_is_refused(name: str) -> None:
    assert clean_path(name) is None


def test_an_ordinary_path_is_kept_and_made_plain() -> None:
    assert clean_path("./src/a b/é.py") == "src/a b/é.py"


def entries(archive: Path) -> dict[str, str]:
    return {
        entry.path: "kept" if isinstance(entry, CorpusDocument) else entry.status
        for entry in read_archive(archive, PYTHON)
    }


def test_a_hostile_tarball_writes_nothing_outside(tmp_path: Path) -> None:
    archive = tmp_path / "evil.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name in ("../up.py", "/abs.py", "ok.py"):
            tar.addfile(tarfile.TarInfo(name), io.BytesIO())
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            link = tarfile.TarInfo(f"link{kind.decode()}.py")
            link.type, link.linkname = kind, "/etc/passwd"
            tar.addfile(link)
        device = tarfile.TarInfo("device.py")
        device.type = tarfile.CHRTYPE
        tar.addfile(device)
    assert entries(archive) == {
        "../up.py": "skipped_path", "/abs.py": "skipped_path", "ok.py": "kept",
        "link2.py": "skipped_link", "link1.py": "skipped_link", "device.py": "skipped_special",
    }  # fmt: skip


def test_a_hostile_zip_writes_nothing_outside(tmp_path: Path) -> None:
    archive = tmp_path / "evil.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("../up.py", "")
        link = zipfile.ZipInfo("link.py")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        zipped.writestr(link, "/etc/passwd")
        zipped.writestr("bomb.py", b"0" * (MAX_FILE_BYTES + 1))
        zipped.writestr("ok.py", "")
    assert entries(archive) == {
        "../up.py": "skipped_path", "link.py": "skipped_link", "bomb.py": "skipped_size",
        "ok.py": "kept",
    }  # fmt: skip


@pytest.mark.parametrize("kept_bytes", [0, 1, 60, 200])
def test_a_truncated_tarball_is_refused(tmp_path: Path, kept_bytes: int) -> None:
    content = {f"repo/{number}.py": os.urandom(500) for number in range(20)}
    whole = tarball(tmp_path / "whole.tar.gz", content).read_bytes()
    torn = tmp_path / "torn.tar.gz"
    torn.write_bytes(whole[: len(whole) * kept_bytes // 250])
    with pytest.raises(DatasetError, match=r"torn\.tar\.gz: truncated or not an archive"):
        list(read_archive(torn, PYTHON))


def test_too_many_entries_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalake_ingest.corpora.archives.MAX_ENTRIES", 3)
    archive = tarball(tmp_path / "many.tar", {f"{number}.py": b"" for number in range(4)}, "w")
    with pytest.raises(DatasetError, match="more than 3 entries"):
        list(read_archive(archive, PYTHON))


def test_a_file_that_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalake_ingest.corpora.archives.MAX_TOTAL_BYTES", 100_000)
    archive = tarball(tmp_path / "bomb.tar.gz", {"a.py": b"0" * 90_000, "b.py": b"0" * 90_000})
    with pytest.raises(DatasetError, match=r"too large|bytes unpacked"):
        list(read_archive(archive, PYTHON))
