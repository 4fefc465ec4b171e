"""What ids, queries, grades and scores may be, in every format alike."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.ingest.importing import (
    answers,
    beir,
    json_qrels,
    json_run,
    jsonl,
    qrels,
    refused,
    tasks,
    trec_run,
    whole,
    write,
)

from evalake_ingest.originals.problems import Problems
from evalake_ingest.originals.value_rules import BadValueError, as_amount, as_grade, as_id, as_score


def graded_in_every_format(folder: Path, grade: str, **options: Any) -> list[Callable[..., Any]]:
    """Readers of one judgement, graded so, in each format."""
    jsonl(folder / "b" / "corpus.jsonl", {"_id": "d1", "text": "x"})
    jsonl(folder / "b" / "queries.jsonl", {"_id": "q1", "text": "x"})
    write(folder / "b" / "qrels" / "test.tsv", f"q1\td1\t{grade}\n")
    line = f'{{"task_id": "q1", "query": "q", "gold": [{{"doc_id": "d1", "grade": {grade}}}]}}\n'
    return [
        qrels(write(folder / "q", f"q1 0 d1 {grade}\n"), **options),
        json_qrels(write(folder / "q.json", f'{{"q1": {{"d1": {grade}}}}}'), **options),
        beir(folder / "b", **options),
        tasks(write(folder / "t.jsonl", line), options=options),
    ]


@pytest.mark.parametrize(
    ("grade", "kept"), [("1", 1), ("1.0", 1), ("2.0", 2), ("0", 0), ("-2", 0), ("9e3", 9000)]
)
def test_a_whole_grade_is_read_in_every_format_with_or_without_a_point(
    tmp_path: Path, grade: str, kept: int
) -> None:
    for reader in graded_in_every_format(tmp_path, grade):
        (task,) = whole(reader).tasks
        (item,) = task.gold
        assert (item.grade, item.role) == (kept, "primary" if kept else "admissible")


@pytest.mark.parametrize(
    ("grade", "told"),
    [
        ("0.5", "is not a whole number; --grade-scale N multiplies grades by N"),
        ("9223372036854775808", "does not fit into 64 bits"),
        ("1e30", "does not fit into 64 bits"),
        ("NaN", "is not a number"),
        ("Infinity", "is not a number"),
        ("true", "is not a number"),
    ],
)
def test_another_grade_is_refused_in_every_format_with_its_line(
    tmp_path: Path, grade: str, told: str
) -> None:
    for reader in graded_in_every_format(tmp_path, grade):
        (problem,) = refused(reader)
        assert ":1: " in problem
        assert told in problem


def test_the_grade_scale_multiplies_every_grade_in_every_format(tmp_path: Path) -> None:
    for reader in graded_in_every_format(tmp_path, "0.25", grade_scale=4):
        (task,) = whole(reader).tasks
        assert [item.grade for item in task.gold] == [1]
    for reader in graded_in_every_format(tmp_path, "0.3", grade_scale=2):
        (problem,) = refused(reader)
        assert "times 2 is not a whole number" in problem


@pytest.mark.parametrize("score", ["NaN", "Infinity", "-Infinity", "1e999", "true", '"high"'])
def test_a_score_that_is_no_finite_number_is_refused_in_every_format_with_its_line(
    tmp_path: Path, score: str
) -> None:
    line = f'{{"task_id": "q1", "hits": [{{"doc_id": "d1", "score": {score}}}]}}\n'
    for reader in (
        trec_run(write(tmp_path / "r", f"q1 Q0 d1 1 {score} x\n")),
        json_run(write(tmp_path / "r.json", f'{{"q1": {{"d1": {score}}}}}')),
        answers(write(tmp_path / "r.jsonl", line)),
    ):
        (problem,) = refused(reader)
        assert ":1: " in problem


@pytest.mark.parametrize("amount", ["NaN", "1e999", "-1", "1e300"])
def test_seconds_and_dollars_are_finite_and_not_negative(tmp_path: Path, amount: str) -> None:
    for key in ("seconds", "cost_usd"):
        file = write(tmp_path / "r.jsonl", f'{{"task_id": "q1", "{key}": {amount}}}\n')
        (problem,) = refused(answers(file))
        assert problem.startswith(f"r.jsonl:1: `{key}`: ")


def test_ids_that_are_numbers_are_their_digits_and_mean_the_same_in_every_file(
    tmp_path: Path,
) -> None:
    jsonl(tmp_path / "corpus.jsonl", {"_id": 1, "text": "x"}, {"id": "2", "text": "y"})
    jsonl(tmp_path / "queries.jsonl", {"_id": 10, "text": "x"})
    write(tmp_path / "qrels" / "test.tsv", "10\t1\t1\n")
    loaded = whole(beir(tmp_path))
    (task,) = loaded.tasks
    assert (task.task_id, [item.gold_id for item in task.gold]) == ("10", ["1"])
    assert [entry.path for entry in loaded.corpora[0].documents()] == ["1", "2"]
    row = {"task_id": 1, "query": "q", "gold": [{"doc_id": 7}], "labels": {"year": 2020}}
    (task,) = whole(tasks(jsonl(tmp_path / "t.jsonl", row))).tasks
    assert (task.task_id, task.gold[0].gold_id, dict(task.labels)) == ("1", "7", {"year": "2020"})


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (True, "true is no id"),
        (1.0, "1.0 is a number with a point"),
        ("", "may not be empty"),
        (" ", "may not be empty"),
        ("a\x00", "control character (0x00)"),
        ("a\nb", "control character (0x0a)"),
        (None, "a string or a whole number"),
    ],
)
def test_anything_else_is_no_id(value: object, told: str) -> None:
    with pytest.raises(BadValueError) as raised:
        as_id(value)
    assert told in str(raised.value)


def test_lone_surrogates_are_told_with_line_and_key(tmp_path: Path) -> None:
    jsonl(tmp_path / "corpus.jsonl", {"_id": "d1", "text": "\ud800"})
    jsonl(tmp_path / "queries.jsonl", {"_id": "q1", "text": "pair \U0001f600"})
    write(tmp_path / "qrels" / "test.tsv", "q1\td1\t1\n")
    half = "half a surrogate pair, which is no character"
    assert refused(beir(tmp_path)) == [f"corpus.jsonl:1: `text`: {half}"]
    hits = {"task_id": "1", "hits": [{"doc_id": "a"}, {"doc_id": "b", "text": "\udfff"}]}
    assert refused(answers(jsonl(tmp_path / "r.jsonl", hits))) == [
        f"r.jsonl:1: `hits.1.text`: {half}"
    ]
    assert refused(json_run(write(tmp_path / "r.json", '{"q1": {\n"\\ud800": 1}}'))) == [
        f"r.json:2: not {{query: {{document: number}}}}: {half}"
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[" * 5_000, "this is one JSON array; write one object a line"),
        ('{"a":' * 100_000, "nested too deep"),
        ('{"task_id": ' + "9" * 5_000 + "}", "a number of 5000 digits"),
        ('{"task_id": "1", "query": "a", "query": "b"}', "key 'query' stands twice in one object"),
        ("7", "not a JSON object"),
        ("{", "this is JSON over several lines; write one object a line"),
        ('{"task_id": "1", "query": " "}', "`query`: the query is empty"),
        ('{"task_id": "1", "query": "a\\u0000"}', "`query`: a query may hold no control character"),
        (
            '{"task_id": "1", "query": "q", "gold": '
            '[{"path": "a", "start_line": 1, "end_line": 1e3}]}',
            "`gold.0.end_line`: Input should be a valid integer",
        ),
        (
            '{"task_id": "1", "query": "q", "gold": [{"path": "a", "start_line": 1, "end_line": '
            + "9" * 19
            + "}]}",
            "`gold.0.end_line`: Input should be less than or equal to 9223372036854775807",
        ),
    ],
)
def test_what_is_no_line_of_tasks_is_refused_with_its_line(
    tmp_path: Path, line: str, told: str
) -> None:
    (problem,) = refused(tasks(write(tmp_path / "t.jsonl", line + "\n")))
    assert problem.startswith(f"t.jsonl:1: {told}")


def test_twenty_problems_are_shown_and_the_others_counted(tmp_path: Path) -> None:
    told = refused(qrels(write(tmp_path / "q", "t1 0 d1\n" * 25)))
    assert len(told) == 21
    assert told[19].startswith("q:20: ")
    assert told[20] == "and 5 more problems"


def test_json_pairs_are_read_with_their_lines(tmp_path: Path) -> None:
    text = '{"q1": {"d1": 1,\n "d2": 2.0, "d\\u0031": 1},\n "q2": {}, "q1": {"d9": 1}}'
    assert refused(json_qrels(write(tmp_path / "q.json", text))) == [
        "q.json:2: document 'd1' of query 'q1' is judged in line 1 already: there too",
        "q.json:3: query 'q1' stands in line 1 already",
    ]
    loaded = whole(json_qrels(write(tmp_path / "q.json", '{"q1": {"d1": 1, "d2": 0}, "q2": {}}')))
    assert [task.task_id for task in loaded.tasks] == ["q1"]
    assert [(drop.source_row, drop.reason) for drop in loaded.drops] == [("q2", "no_gold")]
    ranking = whole(json_run(write(tmp_path / "r.json", '{"q1": {"a": 0.5, "b": 2}, "q2": {}}')))
    found = {name: [hit.item_id for hit in one.hits] for name, one in ranking.answers.items()}
    assert found == {"q1": ["b", "a"], "q2": []}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"default": {"test": {"q1": {"d1": 1}}}}', "it is nested deeper; take one level of it"),
        ('[{"q1": {"d1": 1}}]', "expected {, found ["),
        ('{"q1": {"d1": 1}', "expected ,, found the end"),
        ('{"q1": {"d1": 1}} {}', "something follows the object"),
        ('{"q1": {"d1": }}', "expected a number, found '}'"),
        ('{"q1": {d1: 1}}', "expected a key in double quotes, found 'd'"),
        ('{"q1": 3}', "expected {, found 3"),
    ],
)
def test_json_of_another_shape_is_refused_with_its_line(
    tmp_path: Path, text: str, told: str
) -> None:
    problem, *rest = refused(json_run(write(tmp_path / "r.json", "\n" + text)))
    assert problem == f"r.json:2: not {{query: {{document: number}}}}: {told}"
    assert rest == []


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5),
    st.binary(max_size=3), st.lists(st.integers(), max_size=2),
)  # fmt: skip


@given(VALUES)
def test_a_rule_keeps_a_value_or_says_what_is_wrong_with_it(value: object) -> None:
    for rule in (as_id, as_grade, as_score, as_amount):
        with suppress(BadValueError):
            assert isinstance(rule(value), str | int | float)


@given(st.integers(min_value=-(2**63) + 1, max_value=2**63 - 1))
def test_every_whole_number_of_64_bits_is_a_grade(number: int) -> None:
    assert as_grade(str(number)) == as_grade(number) == as_grade(f"{number}.00") == number


KEYS = ["task_id", "query", "gold", "hits", "doc_id", "q1"]
FILES = st.one_of(
    st.binary(max_size=60),
    st.text(alphabet='{}[]":,.0123456789eE-+tqd \t\r\n\ufeff\\u', max_size=60).map(str.encode),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.sampled_from(["task_id", "query", "gold", "hits", "doc_id", "q1"]),
                inner,
                max_size=3,
            ),
        ),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode()),
)


@given(FILES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_file_at_all_breaks_a_reader(tmp_path: Path, content: bytes) -> None:
    file = write(tmp_path / "x", content)
    for reader in (
        qrels(file), trec_run(file), json_qrels(file), json_run(file), tasks(file), answers(file),
    ):  # fmt: skip
        problems = Problems()
        found = reader(problems)
        assert problems or found
        assert all(problem.where.startswith(str(file)) for problem in problems.shown)
