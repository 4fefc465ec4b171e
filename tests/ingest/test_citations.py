"""Files that prose cites, and what they mean in a corpus."""

from __future__ import annotations

import pytest

from evalake_ingest.originals.citations import CitedPaths, find_citations
from evalake_ingest.originals.cited_gold import cite_files, question_type


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("in `src/a.py` (lines 3-9), it", ("src/a.py", 3, 9)),
        ("in `src/a.py` lines 3\u20139", ("src/a.py", 3, 9)),
        ("see src/a.py:12.", ("src/a.py", 12, 12)),
        ("see src/a.py:12-15,", ("src/a.py", 12, 15)),
        ("see `a.py#L10-L12`", ("a.py", 10, 12)),
        ("see a.py#L10", ("a.py", 10, 10)),
        ("lines 3 to 9 in `pkg/b.py`", ("pkg/b.py", 3, 9)),
        ("defined at line 227 in base.py, establishing", ("base.py", 227, 227)),
        ("./src/a.py", ("./src/a.py", None, None)),
        ("```220:233:conan/model/r.py\n    def x():", ("conan/model/r.py", 220, 233)),
        ("https://github.com/o/r/blob/0a1b2c/src/a.py#L3-L4", ("src/a.py", 3, 4)),
        ("**`docs/x.rst`**", ("docs/x.rst", None, None)),
        ("the file .github/ci.md says", (".github/ci.md", None, None)),
        ("`pkg/__init__.py`", ("pkg/__init__.py", None, None)),
        ("`a.py` (line 0)", ("a.py", None, None)),
        ("see src/a.py:15-12", ("src/a.py", 15, 15)),  # reversed: the line it begins with
        ("lines 9 to 3 in `pkg/b.py`", ("pkg/b.py", 9, 9)),
        ("`a.py` (lines 4-4)", ("a.py", 4, 4)),
        ("`a.py` (lines 0-4)", ("a.py", None, None)),
        ("`a.py#L0-L4`", ("a.py", None, None)),
        ("https://github.com/o/r/raw/0a1b2c/src/a.py", ("src/a.py", None, None)),
        ("https://github.com/o/r/tree/0a1b2c/src/a.py", ("src/a.py", None, None)),
        ("lines 3 through 9 of a.py", ("a.py", 3, 9)),
        ("lines 3 and 9 from a.py", ("a.py", 3, 9)),
        ("a.py at line 7", ("a.py", 7, 7)),
        ("a.py, around line ~7", ("a.py", 7, 7)),
        ("/src/a.py", ("src/a.py", None, None)),
        ("conf/app.json", ("conf/app.json", None, None)),
    ],
)
def test_a_citation_is_found_with_its_lines(
    text: str, cited: tuple[str, int | None, int | None]
) -> None:
    (found,) = find_citations(text)
    assert (found.path, found.start_line, found.end_line) == cited


@pytest.mark.parametrize(
    "text",
    [
        "call app.json.dumps or self.json", "a.b.pyx_thing", "https://example.org/docs/a.py",
        "version 3.10", "e.g. foo", "request.html",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_file_is_none(text: str) -> None:
    assert list(find_citations(text)) == []


PATHS = ["src/pkg/a.py", "src/pkg/sub/a.py", "src/pkg/b.py", "tests/b_test.py"]


@pytest.mark.parametrize(
    ("cited", "status", "path"),
    [
        ("src/pkg/a.py", "exact", "src/pkg/a.py"),
        ("./src/pkg/a.py", "exact", "src/pkg/a.py"),
        ("repo/src/pkg/a.py", "exact", "src/pkg/a.py"),
        ("../src/pkg/b.py", "exact", "src/pkg/b.py"),
        ("../../src/pkg/b.py", "exact", "src/pkg/b.py"),
        ("repo/pkg/b.py", "suffix", "src/pkg/b.py"),
        ("b.py", "suffix", "src/pkg/b.py"),  # tests/b_test.py only ends alike
        ("pkg/a.py", "suffix", "src/pkg/a.py"),
        ("a.py", "ambiguous", None),
        ("c.py", "unresolved", None),
        ("other/b.py", "unresolved", None),
    ],
)
def test_a_cited_path_means_one_file_or_none(cited: str, status: str, path: str | None) -> None:
    found = CitedPaths(PATHS, "repo").resolve(cited)
    assert (found.status, found.path) == (status, path)


def reasons(answer: str | None) -> list[tuple[str, str | None]]:
    cited = cite_files(answer, CitedPaths(PATHS, "repo"))
    return [(drop.reason, drop.evidence) for drop in cited.drops("row", "task")]


def test_a_row_without_gold_says_why() -> None:
    assert reasons(None) == [("null_answer", None)]
    assert reasons("It depends.") == [("no_citation", None)]
    assert reasons("See `c.py`.") == [("unresolved_citation", "c.py")]
    assert reasons("See `a.py` and `c.py`.") == [("ambiguous_basename", "a.py, c.py")]


def test_an_ambiguous_name_beside_gold_is_dropped_by_itself() -> None:
    cited = cite_files("`b.py` and `a.py`, again `a.py`", CitedPaths(PATHS, "repo"))
    assert [item.gold_id for item in cited.gold] == ["src/pkg/b.py"]
    assert [item.evidence for item in cited.gold] == ["b.py"]
    assert [drop.evidence for drop in cited.drops("row", "task")] == ["a.py"]


def test_a_bare_name_that_is_also_given_in_full_is_no_loss() -> None:
    assert reasons("In `src/pkg/a.py`; later `a.py` does more.") == []


def test_question_types_are_normalised_on_the_first_word() -> None:
    told = [question_type(text) for text in ("Where (Localization Queries)", "where", "Is it?", "")]
    assert told == ["where", "where", None, None]


def test_an_answer_that_cites_left_out_files_alone_says_so() -> None:
    paths = CitedPaths(PATHS, "repo", left_out=["web/app.ts", "logo.png"])
    (drop,) = cite_files("`web/app.ts` and `gone.py`", paths).drops("row 1", "t1")
    assert (drop.reason, drop.evidence) == ("file_left_out", "web/app.ts, gone.py")
    (drop,) = cite_files("`web/app.ts`", CitedPaths(PATHS, "repo")).drops("row 1", "t1")
    assert drop.reason == "unresolved_citation"
