"""Qrels, tasks and rankings made elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pytrec_eval import RelevanceEvaluator
from tests.ingest.importing import (
    answers,
    beir,
    import_into,
    jsonl,
    qrels,
    read,
    refused,
    tasks,
    trec_run,
    whole,
    write,
)

from evalake_ingest.editions.pipeline import Ingested
from evalake_ingest.imports.pairs import rank_by_score
from evalake_ingest.names import check_own_name, is_benchmark
from evalake_ingest.rankings.answers import Ranking
from evalake_ingest.rankings.write_run import ImportedRun, write_ranking
from evalake_warehouse.errors import UsageError
from evalake_warehouse.project import Project

QRELS = "t1 0 d1 2\nt1 0 d2 0\nt1 0 d3 1\nt2 0 d1 1\nt3 0 d9 -1\n"
RUN = "t1 Q0 d1 9 0.5 x\nt1 Q0 d3 1 0.5 x\nt1 Q0 d2 2 0.7 x\nt2 Q0 d5 1 3 x\nt9 Q0 d1 1 1 x\n"


def import_trec(project: Project, tmp_path: Path, **options: Any) -> ImportedRun:
    judged = qrels(write(tmp_path / "qrels", QRELS))
    done = import_into(project, judged, trec_run(write(tmp_path / "run", RUN), **options))
    assert done.run is not None
    return done.run


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


def test_every_bad_qrels_line_is_told_at_once(tmp_path: Path) -> None:
    text = "t1 0 d1 0.5\nt1 0 d2\nt1 0 d3 1\nt1 0 d3 2\nt1 0 d3 1\n"
    assert refused(qrels(write(tmp_path / "q", text))) == [
        "q:1: the grade '0.5' is not a whole number; --grade-scale N multiplies grades by N",
        "q:2: 3 fields; expected: topic iteration doc grade",
        "q:4: document 'd3' of query 't1' is judged in line 3 already: graded 1 there and 2 here",
        "q:5: document 'd3' of query 't1' is judged in line 3 already: there too",
    ]


def test_every_bad_run_line_is_told_at_once(tmp_path: Path) -> None:
    text = "t1 Q0 d1 1 high x\nt1 Q0 d1 1 nan x\nt1 Q0 d1 1\nt1 Q0 d1 1 1e999 x\n"
    assert refused(trec_run(write(tmp_path / "r", text))) == [
        "r:1: the score 'high' is not a number", "r:2: the score 'nan' is not a number",
        "r:3: 4 fields; expected: topic Q0 doc rank score tag",
        "r:4: the score '1e999' is not a finite number",
    ]  # fmt: skip


def test_what_follows_the_tag_of_a_run_line_is_passed_over_as_in_trec_eval(tmp_path: Path) -> None:
    file = write(tmp_path / "r", "t1 Q0 d1 1 2.5 tag and more words\n")
    (hit,) = whole(trec_run(file)).answers["t1"].hits
    assert (hit.item_id, hit.score) == ("d1", 2.5)


def test_what_follows_the_grade_is_refused_as_in_trec_eval(tmp_path: Path) -> None:
    told = refused(qrels(write(tmp_path / "q", "t1 0 d1 1 more\n")))
    assert told == ["q:1: 5 fields; expected: topic iteration doc grade"]


def test_a_no_break_space_is_part_of_an_id(tmp_path: Path) -> None:
    (task,) = whole(qrels(write(tmp_path / "q", "t1 0 d\u00a01 1\n"))).tasks
    assert [item.gold_id for item in task.gold] == ["d\u00a01"]


def test_a_doc_that_a_topic_lists_twice_is_refused(tmp_path: Path) -> None:
    text = "t1 Q0 d1 1 3 x\nt2 Q0 d1 1 3 x\nt1 Q0 d1 2 2 x\nt1 Q0 d2 3 1 x\nt2 Q0 d1 2 3 x\n"
    assert refused(trec_run(write(tmp_path / "r", text))) == [
        "r:3: document 'd1' of query 't1' stands in line 1 already",
        "r:5: document 'd1' of query 't2' stands in line 2 already",
    ]


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_an_empty_file_is_refused(tmp_path: Path, content: bytes) -> None:
    file = write(tmp_path / "x", content)
    assert refused(qrels(file)) == ["x: no qrels in it"]
    assert refused(trec_run(file)) == ["x: no ranking in it"]


def test_a_ranking_of_other_tasks_is_refused(project: Project) -> None:
    with pytest.raises(UsageError, match="no edition"):
        write_ranking(project, "d", "none", Ranking("l", "trec", "f", "0", {}))


def test_a_ranking_that_answers_no_task_is_refused(project: Project, tmp_path: Path) -> None:
    judged = qrels(write(tmp_path / "qrels", QRELS))
    other = trec_run(write(tmp_path / "run", "z Q0 d1 1 1 x\n"))
    with pytest.raises(UsageError, match=r"answers no task of d.*'t1'.*'z'"):
        import_into(project, judged, other)
    assert list(project.lake.iterdir()) == []


def test_jsonl_gold_takes_its_level_from_what_names_it(tmp_path: Path) -> None:
    gold = [
        {"path": "a.py"},
        {"path": "a.py", "start_line": 2, "end_line": 4},
        {"symbol": "a.f", "path": "a.py", "start_line": 1, "end_line": 2, "fingerprint": "0"},
        {"doc_id": "d", "text": "words", "grade": 2},
        {"path": "b.py", "role": "admissible"},
    ]
    file = jsonl(tmp_path / "t.jsonl", {"task_id": "1", "query": "q", "gold": gold})
    (task,) = whole(tasks(file)).tasks
    assert [(item.gold_id, item.level, item.grade, item.role) for item in task.gold] == [
        ("a.py", "file", 1, "primary"), ("a.py#L2-L4", "lines", 1, "primary"),
        ("a.py::a.f", "symbol", 1, "primary"), ("d", "doc", 2, "primary"),
        ("b.py", "file", 1, "admissible"),
    ]  # fmt: skip
    assert [[qrel.relation for qrel in item.qrels] for item in task.gold] == [
        ["file"], ["lines"], ["symbol", "fingerprint"], ["doc_id", "text"], ["file"],
    ]  # fmt: skip


def test_jsonl_gold_may_stand_in_a_file_of_its_own(project: Project, tmp_path: Path) -> None:
    file = jsonl(
        tmp_path / "t.jsonl", {"task_id": "1", "query": "q"}, {"task_id": "2", "query": "q"}
    )
    gold = jsonl(
        tmp_path / "g.jsonl", {"task_id": "1", "doc_id": "a"}, {"task_id": "2", "doc_id": "zz"}
    )
    docs = jsonl(tmp_path / "d.jsonl", {"doc_id": "a", "text": "A"}, {"doc_id": "b", "text": "B"})
    done = import_into(project, tasks(file, gold, documents=docs)).dataset
    assert done is not None
    assert done.dropped_by_reason == {"gold_not_in_corpus": 1}
    assert [row["task_id"] for row in read(project, "tasks")] == ["1"]


def test_every_bad_jsonl_line_is_told_at_once(tmp_path: Path) -> None:
    file = write(
        tmp_path / "t.jsonl",
        '{"task_id": "1"}\n{"task_id": "1", "query": "q", "golds": []}\n{"task_id"\n'
        '{"task_id": 2, "query": "q", "gold": [{"grade": 1.5, "path": "a"}, {}]}\n',
    )
    assert refused(tasks(file)) == [
        "t.jsonl:1: `query`: Field required",
        "t.jsonl:2: `golds`: unknown key; did you mean `gold`?",
        "t.jsonl:3: not JSON: Expecting ':' delimiter at column 11",
        "t.jsonl:4: `gold.0.grade`: the grade 1.5 is not a whole number; "
        "--grade-scale N multiplies grades by N",
        "t.jsonl:4: `gold.1`: names nothing: give path, symbol, fingerprint, doc_id or text",
    ]


def test_duplicate_ids_and_gold_of_no_task_are_told_together(tmp_path: Path) -> None:
    row = {"task_id": "1", "query": "q"}
    gold = jsonl(
        tmp_path / "g.jsonl",
        {"task_id": "9", "doc_id": "a"},
        *[{"task_id": "1", "doc_id": "a"}] * 2,
    )
    assert refused(tasks(jsonl(tmp_path / "t.jsonl", row, row), gold)) == [
        "t.jsonl:2: task_id '1' stands in line 1 already",
        "g.jsonl:3: gold 'a' of task '1' is named in line 2 already",
    ]
    assert refused(tasks(jsonl(tmp_path / "t.jsonl", row), gold)) == [
        "g.jsonl:1: task_id '9' is not in t.jsonl",
        "g.jsonl:3: gold 'a' of task '1' is named in line 2 already",
    ]


def test_jsonl_answers_keep_status_time_cost_and_text(project: Project, tmp_path: Path) -> None:
    asked = jsonl(
        tmp_path / "t.jsonl",
        *({"task_id": name, "query": "q", "gold": [{"doc_id": "a"}]} for name in "123"),
    )
    answered = jsonl(
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
    import_into(project, tasks(asked), answers(answered))
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
    found = [{"path": path} for path in ("./a.py", "b.py", "../a.py")]
    asked = tasks(jsonl(tmp_path / "t.jsonl", row), corpus=tmp_path / "src")
    answered = jsonl(tmp_path / "r.jsonl", {"task_id": "1", "hits": found})
    import_into(project, asked, answers(answered))
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
    asked = tasks(jsonl(tmp_path / "t.jsonl", *lines), corpus=tmp_path / "repo")
    done = import_into(project, asked).dataset
    assert done is not None
    return done


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
    assert refused(answers(file)) == [
        "r.jsonl:2: a second answer to task '1', which line 1 answers",
        "r.jsonl:2: `hits.0` names nothing: give path, qualified_name, doc_id or text",
    ]


def test_a_document_may_come_back_in_several_passages_and_else_once(tmp_path: Path) -> None:
    passages = [{"doc_id": "a", "text": "one"}, {"doc_id": "a", "text": "two"}]
    file = jsonl(tmp_path / "r.jsonl", {"task_id": "1", "hits": passages})
    assert len(whole(answers(file)).answers["1"].hits) == 2
    twice = [{"doc_id": "a", "score": 2.0}, {"doc_id": "b"}, {"doc_id": "a", "score": 1.0}]
    file = jsonl(tmp_path / "r.jsonl", {"task_id": "1", "hits": twice})
    assert refused(answers(file)) == ["r.jsonl:1: `hits.2`: document 'a' is `hits.0` already"]


def test_keys_may_have_names_of_the_files_own(tmp_path: Path) -> None:
    row = {"qid": 7, "question": "q", "gold": [{"doc_id": "a"}]}
    names = {"task_id": "qid", "query": "question"}
    (task,) = whole(tasks(jsonl(tmp_path / "t.jsonl", row), names=names)).tasks
    assert (task.task_id, task.query) == ("7", "q")
    file = jsonl(tmp_path / "r.jsonl", {"qid": 7})
    assert list(whole(answers(file, names=names)).answers) == ["7"]


BEIR_CORPUS = [{"_id": "d1", "title": "T", "text": "x"}, {"_id": "d2", "text": "y"}]
BEIR_QUERIES = [{"_id": "q1", "text": "one"}, {"_id": "q2", "text": "two"}]


def beir_folder(folder: Path, judged: str) -> Path:
    jsonl(folder / "corpus.jsonl", *BEIR_CORPUS)
    jsonl(folder / "queries.jsonl", *BEIR_QUERIES)
    write(folder / "qrels" / "test.tsv", judged)
    return folder


def test_a_beir_folder_is_a_dataset_with_its_corpus(project: Project, tmp_path: Path) -> None:
    folder = beir_folder(tmp_path / "b", "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n")
    done = import_into(project, beir(folder)).dataset
    assert done is not None
    assert (done.rows_read, done.rows_kept, done.dropped_by_reason) == (2, 1, {"no_gold": 1})
    assert [(row["gold_id"], row["grade"]) for row in read(project, "gold")] == [
        ("d1", 2),
        ("d2", 0),
    ]


def test_every_problem_of_every_file_of_a_beir_folder_is_told_at_once(tmp_path: Path) -> None:
    folder = beir_folder(
        tmp_path / "b", "query-id\tcorpus-id\tscore\nq1\td1\t0.5\nq1\td2\nq1\td2\t1\nq1\td2\t2\n"
    )
    jsonl(folder / "corpus.jsonl", *BEIR_CORPUS, {"_id": "d1", "text": "again"}, {"_id": "d3"})
    jsonl(folder / "queries.jsonl", *BEIR_QUERIES, {"_id": "q3", "text": " "}, {"_id": True})
    assert refused(beir(folder)) == [
        "queries.jsonl:3: the query is empty",
        "queries.jsonl:4: true is no id; write it as a string",
        "test.tsv:2: the grade '0.5' is not a whole number; --grade-scale N multiplies grades by N",
        "test.tsv:3: 2 fields; expected: query-id corpus-id score, with tabs",
        "test.tsv:5: document 'd2' of query 'q1' is judged in line 4 already: "
        "graded 1 there and 2 here",
        "corpus.jsonl:3: document 'd1' stands in line 1 already",
        "corpus.jsonl:4: a document needs `text`, and its `title` is text too",
    ]


def test_a_query_that_is_judged_and_not_there_is_told_with_its_line(tmp_path: Path) -> None:
    folder = beir_folder(tmp_path / "b", "q1\td1\t1\nq9\td1\t1\n")
    assert refused(beir(folder)) == ["test.tsv:2: query 'q9' is not among the queries"]


def test_a_beir_folder_names_every_missing_part_and_the_splits_that_are_there(
    tmp_path: Path,
) -> None:
    write(tmp_path / "qrels" / "dev.tsv", "q1\td1\t1\n")
    assert refused(beir(tmp_path)) == [
        f"{tmp_path.name}: no corpus.jsonl and no corpus/*.parquet",
        f"{tmp_path.name}: no queries.jsonl and no queries/*.parquet",
        f"{tmp_path.name}: no qrels of split 'test'; qrels has dev.tsv",
    ]


def test_an_own_dataset_cannot_be_called_like_a_benchmark() -> None:
    assert is_benchmark("starter")
    assert not is_benchmark("mine")
    check_own_name("mine")
    with pytest.raises(UsageError, match="`starter` is a benchmark"):
        check_own_name("starter")


def test_gold_that_a_task_names_twice_is_told_with_its_line(tmp_path: Path) -> None:
    gold = [{"path": "a.py"}, {"path": "b.py"}, {"path": "./a.py"}]
    file = jsonl(tmp_path / "t.jsonl", {"task_id": "1", "query": "q", "gold": gold})
    assert refused(tasks(file)) == [
        f"{file.name}:1: `gold.2`: gold 'a.py' of task '1' is named in `gold.0` already"
    ]


def test_a_gold_id_that_is_the_path_of_finer_gold_is_told_with_its_line(tmp_path: Path) -> None:
    lines = {"gold_id": "a.py", "path": "a.py", "start_line": 1, "end_line": 2}
    file = jsonl(tmp_path / "t.jsonl", {"task_id": "1", "query": "q", "gold": [lines]})
    assert refused(tasks(file)) == [
        "t.jsonl:1: `gold.0`: gold_id 'a.py' names the gold item of that file; give another"
    ]
