"""Imported data in daily use: no reason is asked for where no task is held back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from toy import evalake

from evalake_warehouse.project import Project

RUN = ("run", "--system", "random", "--dataset", "mine")


def import_mine(project: Project, folder: Path, *flags: str) -> None:
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / "a.py").write_text("def one():\n    return 1\n")
    row = '{{"task_id": "{}", "query": "which is one", "gold": [{{"path": "a.py"}}]}}\n'
    (folder / "t.jsonl").write_text("".join(row.format(number) for number in range(12)))
    ended = evalake(
        project, "import", "jsonl", "--dataset", "mine", "--tasks", str(folder / "t.jsonl"),
        "--corpus", str(folder / "src"), *flags,
    )  # fmt: skip
    assert ended.code == 0, ended.err


@pytest.mark.parametrize("flags", [(), ("--split-as", "all")])
def test_all_of_it_is_run_without_a_reason_and_is_no_look(
    toy: Project, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    import_mine(toy, tmp_path, *flags)
    ended = evalake(toy, *RUN, "--json")
    (result,) = json.loads(ended.out)
    assert (ended.code, result["asked_now"]) == (0, 12)
    assert evalake(toy, *RUN, "--split", "all").code == 0
    assert json.loads(evalake(toy, "audit", "looks", "--json").out) == []
    assert not (tmp_path / "looks.jsonl").exists()


def test_a_tail_that_was_declared_is_counted_in_the_lake_and_not_in_the_ledger(
    toy: Project, tmp_path: Path
) -> None:
    import_mine(toy, tmp_path, "--split-as", "hash")
    ended = evalake(toy, *RUN, "--split", "test")
    assert ended.code == 2
    assert "each use is counted and needs a reason" in ended.err
    ended = evalake(toy, *RUN, "--json")
    (result,) = json.loads(ended.out)
    assert 0 < result["asked_now"] < 12  # the default is its dev split
    assert evalake(toy, *RUN, "--split", "test", "--confirm", "the last word").code == 0
    (look,) = json.loads(evalake(toy, "audit", "looks", "--json").out)
    assert (look["dataset"], look["why"]) == ("mine", "the last word")
    assert not (tmp_path / "looks.jsonl").exists()


def test_an_import_ends_with_what_was_kept_and_dropped_and_the_command_that_lists_it(
    toy: Project, tmp_path: Path
) -> None:
    import_mine(toy, tmp_path)
    more = '{"task_id": "lost", "query": "q", "gold": [{"path": "gone.py"}]}\n'
    (tmp_path / "more.jsonl").write_text((tmp_path / "t.jsonl").read_text() + more)
    ended = evalake(
        toy, "import", "jsonl", "--dataset", "mine", "--tasks", str(tmp_path / "more.jsonl"),
        "--corpus", str(tmp_path / "src"),
    )  # fmt: skip
    assert ended.code == 0
    assert "{" not in ended.out  # counts by reason stand below the table
    assert ended.err.startswith("12 of 13 tasks kept\n")
    assert "dropped: 1 gold_not_in_corpus, such as lost: file gold gone.py\n" in ended.err
    assert "1 of 13 tasks dropped: 1 gold_not_in_corpus\n" in ended.err
    assert ended.err.endswith("hint: evalake datasets show mine --drops\n")
    assert "file gold gone.py" in evalake(toy, "datasets", "show", "mine", "--drops").out


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--dataset", "starter", "--label", "l"), "`starter` is a benchmark"),
        (("--dataset", "latest", "--label", "l"), "`latest` cannot name a dataset"),
        (("--dataset", "Mine", "--label", "l"), "'Mine' cannot name a dataset"),
        (("--dataset", "", "--label", "l"), "--dataset: empty"),
        (("--dataset", "mine", "--label", ""), "--label: "),
        (("--dataset", "mine", "--label", "latest"), "the run that was recorded last"),
        (("--dataset", "mine"), "a ranking needs a label"),
    ],
)
@pytest.mark.parametrize("kind", ["trec", "json"])
def test_names_that_mean_something_else_are_refused_by_every_importer(
    toy: Project, tmp_path: Path, kind: str, flags: tuple[str, ...], told: str
) -> None:
    for name, text in {
        "trec": ("t 0 d 1\n", "t Q0 d 1 1 x\n"), "json": ('{"t": {"d": 1}}', '{"t": {"d": 1}}')
    }.items():  # fmt: skip
        (tmp_path / f"{name}.qrels").write_text(text[0])
        (tmp_path / f"{name}.run").write_text(text[1])
    given = ("--qrels", str(tmp_path / f"{kind}.qrels"), "--run", str(tmp_path / f"{kind}.run"))
    ended = evalake(toy, "import", kind, *given, *flags)
    assert ended.code == 2
    assert told in ended.err


def import_without_corpus(project: Project, folder: Path) -> None:
    (folder / "q").write_text("t1 0 d1 1\nt2 0 d2 1\n")
    ended = evalake(project, "import", "trec", "--dataset", "mine", "--qrels", str(folder / "q"))
    assert ended.code == 0, ended.err


@pytest.mark.parametrize("command", ["plan", "run"])
@pytest.mark.parametrize(
    ("system", "searches"),
    [
        ("bm25", "bm25"),
        ("ripgrep", "ripgrep"),
        ("random", "random"),
        ("pydocs-lexical", "pydocs-mcp"),
    ],
)
def test_a_system_that_would_search_a_corpus_that_is_not_at_hand_is_refused_once(
    toy: Project, tmp_path: Path, command: str, system: str, searches: str
) -> None:
    import_without_corpus(toy, tmp_path)
    ended = evalake(toy, command, "--system", system, "--dataset", "mine")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        f"error: {system}: the corpus of mine is not at hand, and {searches} searches nothing "
        "else; import the dataset with its corpus, or name a folder with --corpus-dir\n\n"
        "hint: evalake datasets show mine\n"
    )
    assert not (toy.lake / "runs" / "dataset=mine").exists()


@pytest.mark.parametrize("flags", [("gold",), ("empty",), ("bm25", "--corpus-dir", "src")])
def test_what_needs_no_corpus_of_the_dataset_is_run(
    toy: Project, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "t1.py").write_text("t1 = t2 = 1\n")
    import_without_corpus(toy, tmp_path)
    ended = evalake(toy, "run", "--dataset", "mine", "--system", *flags, "--json", cwd=tmp_path)
    assert ended.code == 0, ended.err
    (result,) = json.loads(ended.out)
    assert result["asked_now"] == 2
