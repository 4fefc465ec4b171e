"""Repositories at a pin: shallow, checked, cut off, and complete or absent."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from evalake_ingest.corpora import clones
from evalake_ingest.corpora.clones import Missing, Pin, find_archive, open_repositories
from evalake_ingest.corpora.sources import source_paths
from evalake_ingest.records import LoadOptions
from evalake_warehouse.errors import DownloadError


def git(folder: Path, *arguments: str) -> str:
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
                "GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": os.devnull}  # fmt: skip
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=os.environ | identity, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip()


@pytest.fixture
def origin(tmp_path: Path) -> tuple[Path, str]:
    """A repository of two commits, and the first one's SHA."""
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(folder, "config", "uploadpack.allowFilter", "true")
    (folder / "old.py").write_text("x = 1\n")
    (folder / "link.py").symlink_to("/etc/passwd")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    first = git(folder, "rev-parse", "HEAD")
    git(folder, "mv", "old.py", "new.py")
    git(folder, "commit", "--quiet", "-m", "second")
    return folder, first


def pin(origin: tuple[Path, str], digits: int = 40) -> Pin:
    return Pin("owner/origin", origin[1][:digits], origin[0].as_uri())


@pytest.mark.parametrize("digits", [40, 7])
def test_a_clone_is_at_its_commit_without_history_or_origin(
    origin: tuple[Path, str], tmp_path: Path, digits: int
) -> None:
    options = LoadOptions(cache=tmp_path / "cache")
    source = open_repositories([pin(origin, digits)], options)[pin(origin, digits)]
    assert not isinstance(source, Missing)
    paths, left_out = source_paths(source)
    assert paths == {"old.py"}  # and not the link out of the tree
    assert ".git/" in left_out
    assert source.commit == origin[1]
    (folder,) = (path for path in (tmp_path / "cache/clones").iterdir() if path.is_dir())
    assert git(folder, "remote") == ""
    if digits == 40:
        assert git(folder, "rev-list", "--count", "HEAD") == "1"


def test_a_clone_is_made_once(
    origin: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = LoadOptions(cache=tmp_path / "cache")
    open_repositories([pin(origin)], options)
    monkeypatch.setattr(clones, "clone", lambda *_: pytest.fail("cloned again"))
    open_repositories([pin(origin)], options)


def test_a_clone_that_dies_half_way_is_made_again(
    origin: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = clones._git

    def dying(folder: Path, *arguments: str) -> str:
        if arguments[0] == "checkout":
            raise subprocess.SubprocessError("killed")
        return real(folder, *arguments)

    options = LoadOptions(cache=tmp_path / "cache")
    with monkeypatch.context() as patched:
        patched.setattr(clones, "_git", dying)
        with pytest.raises(DownloadError, match="killed"):
            open_repositories([pin(origin)], options)
    assert not [path for path in (tmp_path / "cache/clones").iterdir() if path.is_dir()]
    source = open_repositories([pin(origin)], options)[pin(origin)]
    assert not isinstance(source, Missing)


def test_every_pin_that_is_gone_is_named_with_its_archive(
    origin: tuple[Path, str], tmp_path: Path
) -> None:
    gone = [
        Pin("owner/origin", "0" * 40, origin[0].as_uri()),
        Pin("o/none", "1" * 40, "file:///none"),
    ]
    with pytest.raises(DownloadError) as raised:
        open_repositories(gone, LoadOptions(cache=tmp_path / "cache"))
    assert [problem.where for problem in raised.value.problems] == [
        f"{origin[0].as_uri()} at {'0' * 40}", f"file:///none at {'1' * 40}",
    ]  # fmt: skip
    assert "owner__origin-000000000000.tar.gz" in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("name", "matches"),
    [
        ("pallets__flask-85c5d93cbd04.tar.gz", True),
        ("sub/flask-85c5d93cbd049c4bd0679c36fd1ddcae8c37b642.zip", True),
        ("flask-85c5d93.tgz", True),
        ("flask-85c5d93cbd05.tar.gz", False),  # another commit
        ("myflask-85c5d93cbd04.tar.gz", False),
        ("flask-3.0.tar.gz", False),
        ("flask-85c5d93cbd04.txt", False),
    ],
)
def test_an_archive_is_known_by_repository_and_commit(
    tmp_path: Path, name: str, matches: bool
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    flask = Pin("pallets/flask", "85c5d93cbd049c4bd0679c36fd1ddcae8c37b642", "https://x")
    assert (find_archive(flask, tmp_path) is not None) == matches
