"""Qrels, tasks and rankings made elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pytrec_eval import RelevanceEvaluator

from evalake_ingest.imports.beir import load_beir
from evalake_ingest.imports.jsonl import JsonlFiles, load_answers, load_dataset
from evalake_ingest.imports.rankings import ImportedRun, Ranking, write_ranking
from evalake_ingest.imports.trec import load_qrels, load_run, rank_by_score
from evalake_ingest.names import check_own_name, is_benchmark
from evalake_ingest.pipeline import Ingested, ingest
from evalake_warehouse.errors import DatasetError, UsageError
from evalake_warehouse.project import Project

QRELS = "t1 0 d1 2\nt1 0 d2 0\nt1 0 d3 1\nt2 0 d1 1\nt3 0 d9 -1\n"
RUN = "t1 Q0 d1 9 0.5 x\nt1 Q0 d3 1 0.5 x\nt1 Q0 d2 2 0.7 x\nt2 Q0 d5 1 3 x\nt9 Q0 d1 1 1 x\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def jsonl(path: Path, *rows: dict[str, Any]) -> Path:
    return write(path, "".join(json.dumps(row) + "\n" for row in rows))


def read(project: Project, table: str) -> list[dict[str, Any]]:
    files = sorted((project.lake / table).glob("dataset=d/*/*.parquet"))
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def import_trec(project: Project, tmp_path: Path, **options: Any) -> ImportedRun:
    loaded = load_qrels(write(tmp_path / "qrels", QRELS), "d")
    edition = ingest(project, loaded, check=None).edition
    ranking = load_run(write(tmp_path / "run", RUN), "bm25", **options)
    return write_ranking(project, "d", edition, ranking)


def test_qrels_become_graded_doc_gold(project: Project, tmp_path: Path) -> None:
    import_trec(project, tmp_path)
    gold = {
        (row["task_id"], row["gold_id"]): (row["grade"], row["role"])
        for row in read(project, "gold")
    }
    assert gold == {
        ("t1", "d1"): (2, "primary"), ("t1", "d2"): (0, "admissible"), ("t1", "d3"): (1, "primary"),
        ("t2", "d1"): (1, "primary"), ("t3", "d9"): (0, "admissible"),
    }  # fmt: skip
    assert {(row["relation"], row["key"]) for row in read(project, "qrels")} == {
        ("doc_id", doc) for doc in ("d1", "d2", "d3", "d9")
    }


def test_ranks_come_from_scores_with_ties_by_doc_id_descending(
    project: Project, tmp_path: Path
) -> None:
    import_trec(project, tmp_path)
    hits = [(row["task_id"], row["rank"], row["doc_id"]) for row in read(project, "hits")]
    assert sorted(hits) == [("t1", 1, "d2"), ("t1", 2, "d3"), ("t1", 3, "d1"), ("t2", 1, "d5")]


def test_scores_that_differ_below_float32_tie_as_in_trec_eval() -> None:
    listed = [("a", 0.1), ("b", 0.1 + 1e-9), ("c", 0.1 - 1e-9)]
    assert [doc for doc, _ in rank_by_score(listed)] == ["c", "b", "a"]
    # And so does the reference: of three equal scores "c" stands first.
    for relevant, expected in (("c", 1.0), ("b", 1 / 2), ("a", 1 / 3)):
        scores = RelevanceEvaluator({"q": {relevant: 1}}, {"recip_rank"}).evaluate(
            {"q": dict(listed)}
        )
        assert scores["q"]["recip_rank"] == pytest.approx(expected)


def test_a_task_without_a_line_was_not_attempted(project: Project, tmp_path: Path) -> None:
    done = import_trec(project, tmp_path)
    statuses = {row["task_id"]: row["status"] for row in read(project, "attempts")}
    assert statuses == {"t1": "ok", "t2": "ok", "t3": "not_attempted"}
    assert (done.n_tasks, done.n_unanswered, done.unknown_tasks) == (3, 1, ("t9",))


def test_trec_eval_c_counts_it_as_an_empty_answer(project: Project, tmp_path: Path) -> None:
    import_trec(project, tmp_path, unanswered="empty")
    statuses = {row["task_id"]: row["status"] for row in read(project, "attempts")}
    assert statuses["t3"] == "empty"


def test_depth_is_the_longest_list_or_what_is_said(project: Project, tmp_path: Path) -> None:
    assert import_trec(project, tmp_path).depth == 3
    assert import_trec(project, tmp_path, depth=2).depth == 2
    second = [row for row in read(project, "hits") if row["rank"] > 2]
    assert len(second) == 1  # of the first import alone


def test_the_same_ranking_twice_adds_nothing(project: Project, tmp_path: Path) -> None:
    first, second = import_trec(project, tmp_path), import_trec(project, tmp_path)
    assert first.run_id == second.run_id
    assert not second.is_new
    assert len(read(project, "attempts")) == 3


def test_the_run_says_where_it_comes_from(project: Project, tmp_path: Path) -> None:
    import_trec(project, tmp_path)
    events = read(project, "runs")
    assert sorted(row["event"] for row in events) == ["finished", "started"]
    assert {row["provenance"] for row in events} == {"imported trec run"}
    assert {row["arm_label"] for row in events} == {"bm25"}
    assert str(tmp_path) not in json.dumps(events, default=str)


def problems(raised: pytest.ExceptionInfo[DatasetError]) -> list[str]:
    return [f"{Path(one.where).name}: {one.what}" for one in raised.value.problems]


def test_every_bad_qrels_line_is_told_at_once(tmp_path: Path) -> None:
    text = "t1 0 d1 0.5\nt1 0 d2\nt1 0 d3 1\nt1 0 d3 2\n"
    with pytest.raises(DatasetError) as raised:
        load_qrels(write(tmp_path / "q", text), "d")
    assert problems(raised) == [
        "q:1: the grade '0.5' is not a whole number",
        "q:2: 3 fields; expected: topic iteration doc grade",
        "q:4: doc 'd3' of topic 't1' has another grade above",
    ]


def test_every_bad_run_line_is_told_at_once(tmp_path: Path) -> None:
    text = "t1 Q0 d1 1 high x\nt1 Q0 d1 1 nan x\nt1 Q0 d1 1\n"
    with pytest.raises(DatasetError) as raised:
        load_run(write(tmp_path / "r", text), "l")
    assert problems(raised) == [
        "r:1: the score 'high' is not a number", "r:2: the score 'nan' is not a number",
        "r:3: 4 fields; expected: topic Q0 doc rank score tag",
    ]  # fmt: skip


def test_a_doc_that_a_topic_lists_twice_is_refused(tmp_path: Path) -> None:
    text = "t1 Q0 d1 1 3 x\nt2 Q0 d1 1 3 x\nt1 Q0 d1 2 2 x\nt1 Q0 d2 3 1 x\nt2 Q0 d1 2 3 x\n"
    with pytest.raises(DatasetError) as raised:
        load_run(write(tmp_path / "r", text), "l")
    assert problems(raised) == [
        "r:3: doc 'd1' of topic 't1' stands in line 1 already",
        "r:5: doc 'd1' of topic 't2' stands in line 2 already",
    ]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe"])
def test_an_empty_or_binary_file_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x"
    file.write_bytes(content)
    with pytest.raises(DatasetError, match=r"no qrels in it|not UTF-8"):
        load_qrels(file, "d")
    with pytest.raises(DatasetError, match=r"no ranking in it|not UTF-8"):
        load_run(file, "l")


def test_a_ranking_of_other_tasks_is_refused(project: Project) -> None:
    with pytest.raises(UsageError, match="no edition"):
        write_ranking(project, "d", "none", Ranking("l", "trec", "f", "0", {}))


def test_a_ranking_that_answers_no_task_is_refused(project: Project, tmp_path: Path) -> None:
    loaded = load_qrels(write(tmp_path / "qrels", QRELS), "d")
    edition = ingest(project, loaded, check=None).edition
    other = load_run(write(tmp_path / "run", "z Q0 d1 1 1 x\n"), "l")
    with pytest.raises(UsageError, match=r"answers no task of d.*'t1'.*'z'"):
        write_ranking(project, "d", edition, other)


def test_jsonl_gold_takes_its_level_from_what_names_it(tmp_path: Path) -> None:
    gold = [
        {"path": "a.py"},
        {"path": "a.py", "start_line": 2, "end_line": 4},
        {"symbol": "a.f", "path": "a.py", "start_line": 1, "end_line": 2, "fingerprint": "0"},
        {"doc_id": "d", "text": "words", "grade": 2},
        {"path": "b.py", "role": "admissible"},
    ]
    tasks = jsonl(tmp_path / "t.jsonl", {"task_id": "1", "query": "q", "gold": gold})
    (task,) = load_dataset(JsonlFiles(tasks), "d").tasks
    assert [(item.gold_id, item.level, item.grade, item.role) for item in task.gold] == [
        ("a.py", "file", 1, "primary"), ("a.py#L2-L4", "lines", 1, "primary"),
        ("a.py::a.f", "symbol", 1, "primary"), ("d", "doc", 2, "primary"),
        ("b.py", "file", 1, "admissible"),
    ]  # fmt: skip
    assert [[qrel.relation for qrel in item.qrels] for item in task.gold] == [
        ["file"], ["lines"], ["symbol", "fingerprint"], ["doc_id", "text"], ["file"],
    ]  # fmt: skip


def test_jsonl_gold_may_stand_in_a_file_of_its_own(project: Project, tmp_path: Path) -> None:
    tasks = jsonl(
        tmp_path / "t.jsonl", {"task_id": "1", "query": "q"}, {"task_id": "2", "query": "q"}
    )
    gold = jsonl(
        tmp_path / "g.jsonl", {"task_id": "1", "doc_id": "a"}, {"task_id": "2", "doc_id": "zz"}
    )
    docs = jsonl(tmp_path / "d.jsonl", {"doc_id": "a", "text": "A"}, {"doc_id": "b", "text": "B"})
    done = ingest(project, load_dataset(JsonlFiles(tasks, gold, documents=docs), "d"), check=None)
    assert done.dropped_by_reason == {"gold_not_in_corpus": 1}
    assert [row["task_id"] for row in read(project, "tasks")] == ["1"]


def test_every_bad_jsonl_line_is_told_at_once(tmp_path: Path) -> None:
    file = write(
        tmp_path / "t.jsonl",
        '{"task_id": "1"}\n{"task_id": "1", "query": "q", "golds": []}\n{"task_id"\n'
        '{"task_id": 2, "query": "q", "gold": [{"grade": 1.5, "path": "a"}, {}]}\n',
    )
    with pytest.raises(DatasetError) as raised:
        load_dataset(JsonlFiles(file), "d")
    assert problems(raised) == [
        "t.jsonl:1: `query`: Field required",
        "t.jsonl:2: `golds`: unknown key; did you mean `gold`?",
        "t.jsonl:3: not JSON: Expecting ':' delimiter at column 11",
        "t.jsonl:4: `task_id`: Input should be a valid string",
        "t.jsonl:4: `gold.0.grade`: Input should be a valid integer",
        "t.jsonl:4: `gold.1`: names nothing: give path, symbol, fingerprint, doc_id or text",
    ]


def test_duplicate_ids_and_gold_of_no_task_are_told_together(tmp_path: Path) -> None:
    row = {"task_id": "1", "query": "q"}
    tasks = jsonl(tmp_path / "t.jsonl", row, row)
    gold = jsonl(tmp_path / "g.jsonl", {"task_id": "9", "doc_id": "a"})
    with pytest.raises(DatasetError) as raised:
        load_dataset(JsonlFiles(tasks, gold), "d")
    assert problems(raised) == [
        "t.jsonl:2: task_id '1' stands in line 1 already",
        "g.jsonl:1: task_id '9' is not in t.jsonl",
    ]  # fmt: skip


def test_jsonl_answers_keep_status_time_cost_and_text(project: Project, tmp_path: Path) -> None:
    tasks = jsonl(
        tmp_path / "t.jsonl",
        *({"task_id": name, "query": "q", "gold": [{"doc_id": "a"}]} for name in "123"),
    )
    edition = ingest(project, load_dataset(JsonlFiles(tasks), "d"), check=None).edition
    answers = jsonl(
        tmp_path / "r.jsonl",
        {
            "task_id": "1",
            "hits": [{"doc_id": "a", "text": "words"}],
            "seconds": 0.5,
            "cost_usd": 0.1,
        },
        {"task_id": "2", "hits": []},
        {"task_id": "3", "status": "timeout", "reason": "after 30 s"},
    )
    write_ranking(project, "d", edition, load_answers(answers, "mine"))
    attempts = {
        row["task_id"]: (row["status"], row["cost_usd"]) for row in read(project, "attempts")
    }
    assert attempts == {"1": ("ok", 0.1), "2": ("empty", None), "3": ("timeout", None)}
    assert [row["seconds"] for row in read(project, "timings")] == [0.5]
    assert [row["text"] for row in read(project, "texts")] == ["words"]


def test_an_answered_path_is_checked_against_the_corpus(project: Project, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x = 1\n")
    row = {"task_id": "1", "query": "q", "gold": [{"path": "a.py"}]}
    files = JsonlFiles(jsonl(tmp_path / "t.jsonl", row), corpus=tmp_path / "src")
    edition = ingest(project, load_dataset(files, "d"), check=None).edition
    found = [{"path": path} for path in ("./a.py", "b.py", "../a.py")]
    answers = jsonl(tmp_path / "r.jsonl", {"task_id": "1", "hits": found})
    write_ranking(project, "d", edition, load_answers(answers, "mine"))
    hits = [(row["raw_path"], row["path"], row["path_status"]) for row in read(project, "hits")]
    assert hits == [
        ("./a.py", "a.py", "resolved"), ("b.py", None, "unresolved"),
        ("../a.py", None, "unresolved"),
    ]  # fmt: skip


RETRY = (
    "class Retry:\n    def start(self):\n        pass\n\n    def count(self):\n        return 1\n"
)


def import_symbols(project: Project, tmp_path: Path, *gold: dict[str, Any]) -> Ingested:
    (tmp_path / "repo" / "src").mkdir(parents=True)
    write(tmp_path / "repo" / "src" / "a.py", RETRY)
    write(tmp_path / "repo" / "src" / "b.py", "def other():\n    pass\n")
    lines = [
        {"task_id": str(number), "query": "q", "gold": [item]}
        for number, item in enumerate(gold, start=1)
    ]
    files = JsonlFiles(jsonl(tmp_path / "t.jsonl", *lines), corpus=tmp_path / "repo")
    return ingest(project, load_dataset(files, "d"), check=None)


@pytest.mark.parametrize(
    "named",
    [
        {"path": "src/a.py", "symbol": "a.Retry.count"},
        {"path": "src/a.py", "symbol": "Retry.count"},
        {"path": "src/a.py", "symbol": "src.a.Retry.count"},
        {"symbol": "a.Retry.count"},
    ],
)
def test_a_symbol_takes_its_place_from_the_corpus(
    project: Project, tmp_path: Path, named: dict[str, Any]
) -> None:
    import_symbols(project, tmp_path, named)
    qrels = [row for row in read(project, "qrels") if row["relation"] != "file"]
    places = {(row["path"], row["start_line"], row["end_line"]) for row in qrels if row["path"]}
    assert places == {("src/a.py", 5, 6)}
    names = {row["key"] for row in qrels if row["relation"] == "symbol"}
    assert names == {"a.Retry.count", "src.a.Retry.count", "Retry.count"}
    assert sum(row["relation"] == "fingerprint" for row in qrels) == 1


def test_a_symbol_that_is_not_in_the_corpus_is_a_drop(project: Project, tmp_path: Path) -> None:
    done = import_symbols(
        project, tmp_path,
        {"path": "src/a.py", "symbol": "a.Retry.count"},
        {"path": "src/a.py", "symbol": "a.Retry.stop"},
        {"path": "src/b.py", "symbol": "a.Retry.count"},  # of another file
    )  # fmt: skip
    assert done.dropped_by_reason == {"gold_not_in_corpus": 2}
    assert [row["task_id"] for row in read(project, "tasks")] == ["1"]


@pytest.mark.parametrize("written", ["./src/a.py", "src//a.py", ".//src/./a.py", "src/a.py"])
def test_a_gold_path_is_kept_as_the_corpus_spells_it(
    project: Project, tmp_path: Path, written: str
) -> None:
    done = import_symbols(project, tmp_path, {"path": written})
    assert done.dropped_by_reason == {}
    assert [row["path"] for row in read(project, "qrels")] == ["src/a.py"]
    assert [row["gold_id"] for row in read(project, "gold")] == ["src/a.py"]


@pytest.mark.parametrize("written", ["src/b/../a.py", "../repo/src/a.py", "/src/a.py"])
def test_a_gold_path_that_leads_up_or_is_absolute_is_in_no_corpus(
    project: Project, tmp_path: Path, written: str
) -> None:
    done = import_symbols(project, tmp_path, {"path": "src/b.py"}, {"path": written})
    assert done.dropped_by_reason == {"gold_not_in_corpus": 1}


def test_two_answers_to_one_task_are_refused(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "r.jsonl", {"task_id": "1"}, {"task_id": "1", "hits": [{"score": 1.0}]})
    with pytest.raises(DatasetError) as raised:
        load_answers(file, "l")
    assert problems(raised) == [
        "r.jsonl:2: a second answer to task '1'",
        "r.jsonl:2: `hits.0` names nothing: give path, qualified_name, doc_id or text",
    ]


def beir(folder: Path, qrels: str) -> Path:
    (folder / "qrels").mkdir(parents=True)
    jsonl(
        folder / "corpus.jsonl",
        {"_id": "d1", "title": "T", "text": "x"},
        {"_id": "d2", "text": "y"},
    )
    jsonl(folder / "queries.jsonl", {"_id": "q1", "text": "one"}, {"_id": "q2", "text": "two"})
    write(folder / "qrels" / "test.tsv", qrels)
    return folder


def test_a_beir_folder_is_a_dataset_with_its_corpus(project: Project, tmp_path: Path) -> None:
    folder = beir(tmp_path / "b", "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n")
    done = ingest(project, load_beir(folder, "d"), check=None)
    assert (done.rows_read, done.rows_kept, done.dropped_by_reason) == (2, 1, {"no_gold": 1})
    assert [(row["gold_id"], row["grade"]) for row in read(project, "gold")] == [
        ("d1", 2),
        ("d2", 0),
    ]


def test_a_float_grade_in_beir_qrels_is_refused(tmp_path: Path) -> None:
    folder = beir(tmp_path / "b", "query-id\tcorpus-id\tscore\nq1\td1\t0.5\n")
    with pytest.raises(DatasetError, match=r"test\.tsv:2: the grade '0.5' is not a whole number"):
        load_beir(folder, "d")


def test_a_beir_folder_names_every_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DatasetError) as raised:
        load_beir(tmp_path, "d")
    assert problems(raised) == [
        "corpus.jsonl: missing",
        "queries.jsonl: missing",
        "test.tsv: missing",
    ]


def test_an_own_dataset_cannot_be_called_like_a_benchmark() -> None:
    assert is_benchmark("starter")
    assert not is_benchmark("mine")
    check_own_name("mine")
    with pytest.raises(UsageError, match="`starter` is a benchmark"):
        check_own_name("starter")
