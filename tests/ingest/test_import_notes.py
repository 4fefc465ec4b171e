"""What an import tells, so that scores are not misread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.ingest.importing import (
    answers,
    import_into,
    json_run,
    jsonl,
    qrels,
    read,
    tasks,
    trec_run,
    write,
)

from evalake_ingest.corpora.near_paths import mend_path
from evalake_warehouse.project import Project

KNOWN = frozenset(
    {
        "src/a.py", "src/café.py", "src/pkg/b.py", "lib/b.py", "README.md", "100%.py",
        "__init__.py", "src/__init__.py",
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("answered", "meant"),
    [
        ("src\\a.py", "src/a.py"),
        ("repo/src/a.py", "src/a.py"),
        ("/home/u/repo/src/a.py", "src/a.py"),
        ("file:///home/u/repo/src/a.py", "src/a.py"),
        ("file://localhost/C:/repo/src/caf%C3%A9.py", "src/café.py"),
        ("a/src/a.py", "src/a.py"),
        ("b/src/a.py", "src/a.py"),
        ("C:\\work\\repo\\src\\a.py", "src/a.py"),
        ("src/a.py:12", "src/a.py"),
        ("src/a.py:12-30", "src/a.py"),
        ("src/a.py#L12-L30", "src/a.py"),
        ("src/cafe\u0301.py", "src/café.py"),
        ("../src/a.py", "src/a.py"),
        ("pkg/b.py", "src/pkg/b.py"),
        ("b.py", None),  # two files of that name
        ("src/z.py", None),
        ("", None),
        ("100%25.py", None),
        ("repo/README.md", "README.md"),
        ("gone/__init__.py", None),  # each folder has one
    ],
)
def test_a_path_is_mended_where_one_file_is_meant(answered: str, meant: str | None) -> None:
    assert mend_path(answered, KNOWN) == meant


def notes(project: Project, folder: Path, *paths: str) -> tuple[str, ...]:
    write(folder / "src" / "pkg" / "a.py", "x = 1\n")
    asked = jsonl(
        folder / "t.jsonl", {"task_id": "1", "query": "q", "gold": [{"path": "pkg/a.py"}]}
    )
    answered = jsonl(
        folder / "r.jsonl", {"task_id": "1", "hits": [{"path": path} for path in paths]}
    )
    corpus = folder / "src"
    return import_into(
        project, tasks(asked, corpus=corpus), answers(answered, depth=10)
    ).notes  # fmt: skip


def test_paths_that_are_no_file_are_counted_with_two_examples(
    project: Project, tmp_path: Path
) -> None:
    told = notes(project, tmp_path, "pkg/a.py", "x/pkg/a.py", "none.py", "x/pkg/a.py", "y/pkg/a.py")
    assert told == (
        "4 of 5 answered paths are no file of the corpus and find nothing: "
        "x/pkg/a.py (would be pkg/a.py), none.py (like none of them)",
    )


def test_gold_that_is_no_file_is_dropped_with_the_file_it_may_mean(
    project: Project, tmp_path: Path
) -> None:
    write(tmp_path / "src" / "a.py", "x = 1\n")
    rows = [
        {"task_id": name, "query": "q", "gold": [{"path": path}]}
        for name, path in {"1": "a.py", "2": "repo\\a.py", "3": "none.py"}.items()
    ]
    import_into(project, tasks(jsonl(tmp_path / "t.jsonl", *rows), corpus=tmp_path / "src"))
    assert [row["evidence"] for row in read(project, "drops")] == [
        "file gold repo\\a.py: would be a.py", "file gold none.py",
    ]  # fmt: skip


def test_an_answered_path_is_found_with_its_accents_composed_or_not(
    project: Project, tmp_path: Path
) -> None:
    write(tmp_path / "src" / "caf\u00e9.py", "x = 1\n")
    row = {"task_id": "1", "query": "q", "gold": [{"path": "caf\u00e9.py"}]}
    asked = tasks(jsonl(tmp_path / "t.jsonl", row), corpus=tmp_path / "src")
    hits = {"task_id": "1", "hits": [{"path": "cafe\u0301.py"}]}
    import_into(project, asked, answers(jsonl(tmp_path / "r.jsonl", hits)))
    assert [row["path"] for row in read(project, "hits")] == ["caf\u00e9.py"]


def test_paths_that_are_all_files_are_not_told_of(project: Project, tmp_path: Path) -> None:
    assert notes(project, tmp_path, "pkg/a.py", "./pkg//a.py") == ()


def ranked(project: Project, folder: Path, run: str, **options: Any) -> tuple[str, ...]:
    judged = qrels(write(folder / "q", "1 0 a 1\n2 0 a 1\n"), **options.pop("dataset", {}))
    return import_into(project, judged, trec_run(write(folder / "r", run), **options)).notes


def test_lists_shorter_than_the_primary_cutoff_are_told_with_the_flags_that_help(
    project: Project, tmp_path: Path
) -> None:
    run = "".join(f"1 Q0 d{number} {number} {9 - number} x\n" for number in range(1, 6))
    assert ranked(project, tmp_path, run) == (
        "the longest list has 5 hits, so ndcg@10 cannot be scored: add --depth 10, "
        "if 10 were asked for, or --metric ndcg@5",
    )
    assert ranked(project, tmp_path, run, depth=10) == ()
    assert ranked(project, tmp_path, run, dataset={"metric": "ndcg@5"}) == ()
    assert ranked(project, tmp_path, run, dataset={"metric": "mrr"}) == ()
    assert ranked(project, tmp_path, run, depth=3) == (
        "the depth is 3, so ndcg@10 cannot be scored: add --metric ndcg@3",
    )


def test_lists_that_are_all_empty_are_told_as_that(project: Project, tmp_path: Path) -> None:
    judged = qrels(write(tmp_path / "q", "1 0 a 1\n"))
    done = import_into(project, judged, json_run(write(tmp_path / "r", '{"1": {}}')))
    (told,) = done.notes
    assert told.startswith("no list has a hit, so ndcg@10 cannot be scored: add --depth 10, ")


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ("1 Q0 a 1 0.1 x\n1 Q0 b 2 0.9 x\n", "in 1 of 1 lists the scores rise from rank to rank"),
        (
            "1 Q0 a 1 0.1 x\n1 Q0 b 2 0.9 x\n2 Q0 a 1 2 x\n2 Q0 b 2 1 x\n",
            "in 1 of 2 lists the scores rise from rank to rank",
        ),
        (
            "1 Q0 a 1 5 x\n1 Q0 b 2 1 x\n1 Q0 c 3 3 x\n",
            "in 1 of 1 lists the ranks are not those of the scores; the scores decide",
        ),
    ],
)
def test_scores_that_contradict_the_ranks_are_told_of(
    project: Project, tmp_path: Path, run: str, told: str
) -> None:
    (note,) = ranked(project, tmp_path, run, depth=10)
    assert note.startswith(told)
    assert ("are these distances?" in note) == ("rise" in told)


@pytest.mark.parametrize(
    "run",
    [
        "1 Q0 a 1 0.9 x\n1 Q0 b 2 0.1 x\n",
        "1 Q0 b 1 0.5 x\n1 Q0 a 2 0.5 x\n",  # equal scores contradict nothing
        "1 Q0 a 0 0.1 x\n1 Q0 b 0 0.9 x\n",  # no ranks of their own
        "1 Q0 a - 0.1 x\n1 Q0 b - 0.9 x\n",
        "1 Q0 a 1 0.1 x\n",
    ],
)
def test_scores_that_agree_with_the_ranks_or_with_none_are_not_told_of(
    project: Project, tmp_path: Path, run: str
) -> None:
    assert ranked(project, tmp_path, run, depth=10) == ()


def test_answers_whose_scores_rise_are_told_of_and_stay_in_their_order(
    project: Project, tmp_path: Path
) -> None:
    hits = [{"doc_id": "a", "score": 0.1}, {"doc_id": "b", "score": 0.9}]
    asked = jsonl(tmp_path / "t.jsonl", {"task_id": "1", "query": "q", "gold": [{"doc_id": "a"}]})
    file = jsonl(tmp_path / "r.jsonl", {"task_id": "1", "hits": hits})
    done = import_into(project, tasks(asked), answers(file, depth=10))
    assert done.notes == (
        "in 1 of 1 lists the scores rise from rank to rank; the order of the hits decides; "
        "are these distances?",
    )
