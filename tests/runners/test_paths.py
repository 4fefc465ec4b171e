"""Answered paths become corpus-relative, or are said not to be; nothing is guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalake_runners.workers.paths import PathResolver

ROOT = Path("/corpora/abc/files")
PATHS = (
    "README.md",
    "docs/conf.py",
    "src/flask/__init__.py",
    "src/flask/app.py",
    "src/flask/json/__init__.py",
    "src/flask/json/tag.py",
    "src/flask/with space.py",
    "tests/test_app.py",
    "tools/app.py",
    "app.py",
)


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("src/flask/app.py", "src/flask/app.py"),
        ("./src/flask/app.py", "src/flask/app.py"),
        ("src//flask/./json/../app.py", "src/flask/app.py"),
        ("src\\flask\\app.py", "src/flask/app.py"),
        (" `src/flask/app.py` ", "src/flask/app.py"),
        ("/corpora/abc/files/src/flask/app.py", "src/flask/app.py"),
        ("/corpora/abc/files/flask/src/flask/app.py", "src/flask/app.py"),
        ("file:///corpora/abc/files/src/flask/with%20space.py", "src/flask/with space.py"),
        ("flask/README.md", "README.md"),
        ("flask-3.0.0/src/flask/app.py", "src/flask/app.py"),
        ("a/src/flask/app.py", "src/flask/app.py"),
        ("src/flask/app.py:12", "src/flask/app.py"),
        ("src/flask/app.py:12-30", "src/flask/app.py"),
        ("src/flask/app.py:12:5", "src/flask/app.py"),
        ("src/flask/app.py#L12-L30", "src/flask/app.py"),
        ("https://github.com/pallets/flask/blob/0123abc/src/flask/app.py", "src/flask/app.py"),
        ("https://github.com/pallets/flask/blob/0123abc/src/flask/app.py#L3", "src/flask/app.py"),
        ("flask.app", "src/flask/app.py"),
        ("src.flask.app", "src/flask/app.py"),
        ("flask.json", "src/flask/json/__init__.py"),
        ("flask.json.tag", "src/flask/json/tag.py"),
        # No reading, or more than one.
        ("", None),
        (".", None),
        ("src/flask", None),
        ("src/flask/missing.py", None),
        ("flask/app", None),
        ("flask.missing", None),
        ("../README.md", None),
        ("docs/README.md", None),  # the corpus has a docs folder: this names a file in it
        ("a/b/src/flask/app.py", None),  # two folders more than the corpus has
        ("/elsewhere/src/flask/app.py", None),
        ("C:\\work\\src\\flask\\app.py", None),
        ("file:///etc/README.md", None),
        ("https://example.org/README.md", None),
        ("SRC/FLASK/APP.PY", None),
        ("tag.py", None),
        ("a\udc80b", None),
        ("\x00", None),
    ],
)
def test_a_path_has_one_reading_or_none(raw: str, path: str | None) -> None:
    assert PathResolver(PATHS, [ROOT]).resolve(raw) == path


def test_a_module_that_two_files_answer_to_is_not_resolved() -> None:
    resolver = PathResolver(["pkg/mod.py", "src/pkg/mod.py", "src/pkg/other.py"])
    assert resolver.resolve("pkg.mod") is None
    assert resolver.resolve("pkg.other") == "src/pkg/other.py"


def test_a_root_behind_a_link_is_the_same_root(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    resolver = PathResolver(["a.py"], [link])
    assert resolver.resolve(str(link / "a.py")) == "a.py"
    assert resolver.resolve(str(real / "a.py")) == "a.py"


def test_an_accent_may_be_composed_or_not_where_one_file_has_the_name() -> None:
    resolver = PathResolver(["src/caf\u00e9.py", "a\u00e9.py", "ae\u0301.py"])
    assert resolver.resolve("./src/cafe\u0301.py") == "src/caf\u00e9.py"
    assert resolver.resolve("ae\u0301.py") == "ae\u0301.py"  # as answered, before any other reading
    assert resolver.resolve("src/cafe.py") is None
    assert (
        PathResolver(["a\u00e9\u0323.py", "ae\u0323\u0301.py"]).resolve("a\u1eb9\u0301.py") is None
    )
