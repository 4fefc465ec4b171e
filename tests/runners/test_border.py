"""What crosses from a worker into evalake's own process is plain and checked, field by field."""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from driving import arm, run, running, statuses
from toy import rows

from evalake_runners.adapters.protocol import Answer, IndexReport, RawHit
from evalake_runners.workers import fields
from evalake_runners.workers.answers import pack_answer, pack_report
from evalake_runners.workers.channel import BadMessageError
from evalake_runners.workers.packed_hits import HIT_FIELDS
from evalake_runners.workers.replies import Answered, Failed, decode_reply, encode_reply
from evalake_warehouse.lake.schemas import TABLES
from evalake_warehouse.project import Project

BORDERING = "python:bordering"


def on(*what: str) -> dict[str, str]:
    return {f"task-{number:05d}": name for number, name in enumerate(what)}


def test_a_bad_value_fails_its_task_by_name_and_no_other(toy: Project) -> None:
    bad = {
        "huge count": "ValueError: n_tool_calls is a number of 100 bits, not from 0 to",
        "negative count": "ValueError: n_tool_calls is -7, not from 0 to",
        "nan cost": "ValueError: cost_usd is nan, not from 0 to",
        "negative cost": "ValueError: cost_usd is -100, not from 0 to",
        "huge cost": "ValueError: cost_usd is 1e+308, not from 0 to",
        "negative phase": "ValueError: phase_seconds['rank'] is -1, not from 0 to",
        "covered": "TypeError: covered is str, not bool",
    }
    (result,) = run(toy, arm(BORDERING, on=on(*bad, "numpy", "evil text")))
    found = [pair for _, pair in sorted(statuses(toy).items())]
    for (status, reason), expected in zip(found, bad.values(), strict=False):
        assert status == "error"
        assert (reason or "").startswith(expected)
    assert {status for status, _ in found[len(bad) :]} == {"ok"}
    assert (result.state, result.n_failed) == ("ran", 7)
    attempts = {row["task_id"]: row for row in rows(toy, "attempts")}
    numpy = attempts["task-00007"]
    assert (numpy["n_tool_calls"], numpy["cost_usd"], numpy["covered"]) == (2, 0.5, True)
    assert {row["cost_usd"] for task, row in attempts.items() if task != "task-00007"} == {None}
    evil = next(row for row in rows(toy, "hits") if row["task_id"] == "task-00008")
    assert (evil["doc_id"], evil["title"]) == ("doc-1", "title")


def test_junk_on_the_connection_costs_its_task_and_a_worker(toy: Project) -> None:
    odd = ("junk", "wrong kind", "claims too much", "half a message")
    run(toy, arm(BORDERING, on=on(*odd)), limits={"timeout_s": 15.0})
    found = [pair for _, pair in sorted(statuses(toy).items())]
    no_answer = "worker sent what is no answer: "
    assert found[:4] == [
        ("error", no_answer + "it does not begin like a message"),
        ("error", no_answer + "it answers another question"),
        ("error", no_answer + f"it claims to be {2**60} bytes long"),
        ("error", "worker exited with code 5"),
    ]
    assert {status for status, _ in found[4:]} == {"ok"}


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        ("none", "TypeError: index returned NoneType, not IndexReport"),
        ("nan", "TypeError: n_chunks is nan, not a whole number"),
        ("object", "TypeError: counts['files'] is object, not a whole number"),
        ("huge", "ValueError: n_vectors is a number of 100 bits, not from 0 to 9007199254740992"),
        ("key", "TypeError: a key of counts is int, not str"),
        ("device", "TypeError: device is bytes, not str"),
    ],
)
def test_a_bad_index_report_fails_that_index_with_its_field(
    toy: Project, report: str, reason: str
) -> None:
    (result,) = run(toy, arm(BORDERING, report=report), limit=2)
    assert (result.state, result.statuses) == ("ran", {"error": 2})
    (event,) = rows(toy, "index_events")
    assert (event["status"], event["reason"]) == ("error", reason)


def test_an_index_report_of_numpy_numbers_is_made_plain_and_read_back(toy: Project) -> None:
    for seed in (0, 1):
        run(toy, arm(BORDERING, report="numpy"), limit=2, seed=seed)
    built, reused = rows(toy, "index_events")
    assert (built["n_chunks"], built["n_vectors"], built["counts_json"]) == (3, 4, '{"files":5}')
    assert reused["cache_hit"]
    assert (reused["n_chunks"], reused["counts_json"]) == (3, '{"files":5}')


def test_an_index_whose_record_is_damaged_is_built_again(toy: Project) -> None:
    run(toy, arm(BORDERING), limit=2)
    (about,) = toy.indexes.glob("*/*/about.json")
    for damaged in ("[]", '{"report": {"n_chunks": "many"}, "bytes_on_disk": 1}', "{"):
        about.write_text(damaged)
        (result,) = run(toy, arm(BORDERING), limit=2, seed=len(damaged))
        assert result.statuses == {"ok": 2}
    assert [row["cache_hit"] for row in rows(toy, "index_events")] == [False] * 4


@pytest.mark.parametrize("where", ["make", "index", "open"])
def test_a_worker_killed_by_chance_is_started_again_before_its_arm_is_given_up(
    toy: Project, tmp_path: Path, where: str
) -> None:
    (lucky,) = run(toy, arm(BORDERING, lives={where: 2}, notes=str(tmp_path)), limit=3)
    assert lucky.statuses == {"ok": 3}
    (tmp_path / where).unlink()
    (doomed,) = run(
        toy, arm(BORDERING, lives={where: 9}, notes=str(tmp_path), report="numpy"), limit=3
    )
    assert doomed.statuses == {"error": 3}
    assert int((tmp_path / where).read_text()) in {3, 6}  # of the index's worker, of the search's
    reasons = {reason for status, reason in statuses(toy).values() if status == "error"}
    (reason,) = reasons
    assert "worker was killed by SIGKILL (out of memory?)" in (reason or "")
    assert "(3 times in a row)" in (reason or "")


def test_a_crash_after_a_fork_is_a_crash_and_leaves_no_process(toy: Project) -> None:
    system = arm(BORDERING, on=on("fork and crash"), mark="forked-child-of-a-test")
    run(toy, system, limits={"timeout_s": 15.0}, limit=2)
    assert statuses(toy)["task-00000"] == ("error", "worker was killed by SIGSEGV")
    assert statuses(toy)["task-00001"] == ("ok", None)
    assert not running("forked-child-of-a-test")


def test_children_in_sessions_of_their_own_end_with_their_worker(
    toy: Project, tmp_path: Path
) -> None:
    system = arm(
        BORDERING, on=on("daemon"), mark="daemon-of-a-test", notes=str(tmp_path)
    )  # fmt: skip
    run(toy, system, limit=2)
    assert (tmp_path / "started").exists()
    assert not running("daemon-of-a-test")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (True, "n is bool, not a whole number"),
        ("3", "n is str, not a whole number"),
        (2.5, "n is 2.5, not a whole number"),
        (float("inf"), "n is inf, not a whole number"),
        (-1, "n is -1, not from 0 to 9007199254740992"),
        (1 << 20_000, "n is a number of 20001 bits, not from 0 to 9007199254740992"),
    ],
    ids=["bool", "text", "fraction", "infinity", "negative", "huge"],
)
def test_what_is_no_count_is_told(value: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message.replace("(", r"\(")):
        fields.count(value, "n")


def test_whole_numbers_of_other_kinds_are_counts() -> None:
    assert [fields.count(value, "n") for value in (3.0, np.int8(3), np.float64(3))] == [3, 3, 3]
    assert {type(fields.count(np.int64(3), "n"))} == {int}


def test_a_line_that_is_none_is_no_line_and_a_fraction_is_an_error() -> None:
    lines = [0, -1, 10**30, float("nan"), 2**31]
    assert [fields.line(value, "start_line") for value in lines] == [None] * 5
    with pytest.raises(TypeError, match=r"start_line is 1\.5"):
        fields.line(1.5, "start_line")


def test_a_reply_reads_back_as_it_was_sent() -> None:
    hit = RawHit(raw_path="a.py", score=0.5, start_line=3, text="\u2028 \U0001f600 \x00", title="t")
    packed = pack_answer(Answer([hit], call="c", n_tool_calls=2), depth=5, resolver=None)
    reply = Answered(packed, 0.25, is_cold=True)
    assert decode_reply(encode_reply(7, reply), to=7) == reply


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (b"[" * 100_000, "recursion"),
        (b"\xff\xfe", "decode"),
        (b"[]", "no object"),
        (b'{"kind": "Failed", "to": 6}', "another message"),
        (b'{"kind": "Exploded", "to": 7}', "Exploded"),
        (b'{"kind": "Failed", "to": 7, "spending": null, "is_attempted": true}', "reason"),
        (
            b'{"kind": "Failed", "to": 7, "spending": {"n_tool_calls": -1}, "is_attempted": true}',
            "n_tool_calls is -1",
        ),
        (b'{"kind": "Opened", "to": 7, "seconds": NaN, "network": "no"}', "seconds is nan"),
        (b'{"kind": "Opened", "to": 7, "seconds": 1, "network": "maybe"}', "network"),
        (b'{"kind": "Indexed", "to": 7, "seconds": 1, "report": {"n_chunks": -1}}', "n_chunks"),
        (b'{"kind": "Indexed", "to": 7, "seconds": 1, "report": {"more": 1}}', "more"),
    ],
)
def test_what_is_no_reply_is_refused_by_name(message: bytes, told: str) -> None:
    with pytest.raises(BadMessageError, match=f"(?i){told}"):
        decode_reply(message, to=7)


def test_a_hit_of_another_shape_is_refused() -> None:
    packed = pack_answer(Answer([RawHit(doc_id="d")]), depth=5, resolver=None)
    sent = encode_reply(7, Answered(packed, 0.25, is_cold=True))
    for old, new, told in (
        (b'["d"]', b"[3]", "item_id is int"),
        (b'"item_id":["d"]', b'"item_id":["d","e"]', "shorter"),
        (b'"item_id":["d"]', b'"item_id":"d"', "not a list"),
        (b'"branch":[null],', b"", "other fields than item_id, score, "),
        (b'"branch":[null],', b'"branch":[null],"colour":[null],', "other fields"),
    ):
        assert old in sent
        with pytest.raises(BadMessageError, match=told):
            decode_reply(sent.replace(old, new, 1), to=7)


def test_what_a_hit_says_reaches_the_column_of_its_name() -> None:
    """A field that is added to `RawHit` needs no other declaration before the lake's schema."""
    columns = {*TABLES["hits"].schema.names, "text"} - {"text_sha256"}
    assert {*HIT_FIELDS} <= columns
    assert {*HIT_FIELDS} - {field.name for field in dataclass_fields(RawHit)} == {
        "path", "path_status",
    }  # fmt: skip


def test_a_failure_without_spending_reads_back() -> None:
    reply = Failed("it went wrong", is_attempted=False)
    assert decode_reply(encode_reply(1, reply), to=1) == reply


def test_counts_of_a_report_are_copied_plain() -> None:
    report = pack_report(IndexReport(counts={"a": np.int64(1)}))
    assert {type(value) for value in report.counts.values()} == {int}
