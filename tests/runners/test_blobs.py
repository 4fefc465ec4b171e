"""One text instead of a list: how it is made, what identifies it, and where it can be scored."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from driving import arm, request, run, statuses
from toy import ROOT, ToyCorpus, ingest_toy, rows

from evalake_runners.adapters.controls import random_windows
from evalake_runners.adapters.protocol import Answer, CorpusView, Query, RawHit
from evalake_runners.engine.plan import make_plan
from evalake_runners.sweeps.arms import bind
from evalake_runners.sweeps.sweep_file import load_sweep
from evalake_runners.sweeps.system_file import load_system
from evalake_runners.workers.blobs import Blob, as_blob
from evalake_warehouse.build.protocol import build
from evalake_warehouse.errors import ConfigError, SystemFailedError, UsageError
from evalake_warehouse.project import Project
from evalake_warehouse.questions.open_warehouse import open_warehouse


def texts(*values: str) -> Answer:
    return Answer([RawHit(doc_id=f"d{rank}", text=text) for rank, text in enumerate(values, 1)])


def joined(answer: Answer, max_bytes: int, n_hits: int = 50) -> tuple[str | None, str | None]:
    hits = as_blob(answer, Blob(max_bytes, n_hits)).hits
    assert len(hits) <= 1
    return (hits[0].text, hits[0].reason) if hits else (None, None)


def test_hits_are_joined_whole_best_first_and_the_first_that_does_not_fit_is_cut() -> None:
    answer = texts("first", "second", "third")
    assert joined(answer, 100) == ("first\n\nsecond\n\nthird", "3 whole, 0 cut, 0 left out")
    assert joined(answer, 20) == ("first\n\nsecond\n\nthird", "3 whole, 0 cut, 0 left out")
    assert joined(answer, 17) == ("first\n\nsecond\n\nth", "2 whole, 1 cut, 0 left out")
    assert joined(answer, 8) == ("first\n\ns", "1 whole, 1 cut, 1 left out")
    # Nothing but the blank line would fit.
    assert joined(answer, 7) == ("first", "1 whole, 0 cut, 2 left out")
    assert joined(answer, 3) == ("fir", "0 whole, 1 cut, 2 left out")
    assert joined(answer, 100, n_hits=2) == ("first\n\nsecond", "2 whole, 0 cut, 0 left out")


def test_a_cut_never_splits_a_character() -> None:
    euro = "\u20ac"  # three bytes
    for max_bytes, n in ((1, 0), (2, 0), (3, 1), (5, 1), (6, 2), (9, 3)):
        text, _ = joined(texts(euro * 3), max_bytes)
        assert text == (euro * n or None)


def test_hits_without_a_word_take_no_place_and_an_answer_of_them_is_empty() -> None:
    assert joined(texts(" \n", "said", ""), 100)[0] == "said"
    assert joined(texts(" \n", ""), 100) == (None, None)
    assert joined(Answer([]), 100) == (None, None)


def test_what_the_call_cost_and_where_all_hits_came_from_is_kept() -> None:
    hits = [RawHit(text="a", branch="bm25"), RawHit(text="b", branch="bm25")]
    answer = as_blob(Answer(hits, cost_usd=0.5, n_tool_calls=2, payload="raw"), Blob(9, 9))
    assert (answer.cost_usd, answer.n_tool_calls, answer.hits[0].branch) == (0.5, 2, "bm25")
    assert (answer.payload, answer.n_bytes) == ("raw", 4)  # the text is `a`, a blank line, `b`
    mixed = as_blob(Answer([hits[0], RawHit(text="b", branch="dense")]), Blob(9, 9))
    assert mixed.hits[0].branch is None


def test_a_hit_without_text_is_an_error_and_not_a_zero() -> None:
    with pytest.raises(SystemFailedError, match="hit 2 has no text"):
        as_blob(Answer([RawHit(text="a"), RawHit(raw_path="b.py")]), Blob(100, 50))


def test_a_blob_arm_is_recorded_as_one_item_of_at_most_its_bytes(toy: Project) -> None:
    spec = replace(arm(depth=1), blob=Blob(40, 7))
    (result,) = run(toy, spec)
    (started,) = [row for row in rows(toy, "runs") if row["event"] == "started"]
    assert (started["output"], started["depth"], result.state) == ("blob", 1, "ran")
    assert json.loads(started["config_json"])["blob"] == {"bytes": 40, "hits": 7, "rule": 1}
    attempts = rows(toy, "attempts")
    assert {(row["status"], row["n_hits"]) for row in attempts} == {("ok", 1)}
    stored = {row["text_sha256"]: row["text"] for row in rows(toy, "texts")}
    hits = rows(toy, "hits")
    assert len(hits) == len(attempts) == 12
    assert {(row["rank"], row["item_id"], row["path"]) for row in hits} == {(1, "blob", None)}
    by_task = {row["task_id"]: stored[row["text_sha256"]] for row in hits}
    for row in attempts:
        text = by_task[row["task_id"]]
        assert text.startswith("text of ")
        assert row["payload_bytes"] == len(text.encode()) <= 40
    # 7 hits of some 25 bytes: the system was asked for more than the one item of the arm.
    assert all("left out" in row["reason"] and "0 left" not in row["reason"] for row in hits)


def test_the_same_index_serves_the_list_and_the_text(toy: Project) -> None:
    run(toy, arm(), replace(arm(depth=1), blob=Blob(100, 5)))
    built = sorted(row["cache_hit"] for row in rows(toy, "index_events"))
    assert built == [False, True]


def test_a_text_less_hit_fails_its_task_alone(toy: Project) -> None:
    run(toy, replace(arm(depth=1, on={"00001": "nan"}), blob=Blob(100, 5)))
    found = statuses(toy)
    status, reason = found.pop("task-00001")
    assert status == "error"
    assert reason is not None
    assert "hit 1 has no text" in reason
    assert {status for status, _ in found.values()} == {"ok"}


def test_arms_without_a_blob_have_the_hash_they_always_had(toy: Project) -> None:
    def hash_of(name: str) -> str:
        return bind(arm(name, depth=20), dataset="d", edition="e", seed=0, project=toy).arm_hash

    # Computed before there were blobs: a lake full of runs goes by these.
    assert hash_of("random") == "7ebadf579c98c21c287a188be872d5abd2ee95b80895a0f7fd883ec5dae761c7"
    assert hash_of("gold") == "cabf54f8bfc0bf96d4840bf3720dd2965c7d7f3995f84e6dba902caae24a2133"


def test_bytes_and_hits_of_a_blob_make_another_arm(toy: Project) -> None:
    shapes = [None, Blob(100, 5), Blob(101, 5), Blob(100, 6)]
    plan = make_plan(toy, request(*[replace(arm(depth=1), blob=shape) for shape in shapes]))
    assert len({cell.arm.arm_hash for cell in plan.cells}) == 4
    run(toy, replace(arm(depth=1), blob=Blob(100, 5)))
    (again,) = run(toy, replace(arm(depth=1), blob=Blob(100, 5)))
    assert again.state == "done"


SWEEP = """\
name: s
datasets: [{dataset: toy}]
depth: 30
arms:
  - {use: systems/bm25.yaml, label: a, blob_bytes: 800}
  - {use: ten.yaml, label: b, blob_bytes: 800}
  - {use: ten.yaml, label: c, blob_bytes: 800, blob_hits: 3, depth: 1}
  - {use: blob.yaml, label: d}
  - {use: systems/bm25.yaml, label: e}
"""


def test_hits_are_those_of_the_system_file_or_else_of_the_sweep(
    toy: Project, tmp_path: Path
) -> None:
    (tmp_path / "ten.yaml").write_text("system: bm25\ndepth: 10\n")
    (tmp_path / "blob.yaml").write_text("system: bm25\ndepth: 1\nblob_bytes: 90\n")
    (tmp_path / "s.yaml").write_text(SWEEP)
    arms = load_sweep(tmp_path / "s.yaml", toy).arms
    assert [(spec.depth, spec.blob) for spec in arms] == [
        (1, Blob(800, 30)), (1, Blob(800, 10)), (1, Blob(800, 3)), (1, Blob(90, 30)), (30, None),
    ]  # fmt: skip


WRONG = """\
name: s
datasets: [{dataset: toy}]
arms:
  - {system: bm25, label: a, blob_bytes: 800, depth: 20}
  - {system: bm25, label: b, blob_hits: 5}
  - {system: random, label: c, blob_bytes: 800}
  - {system: pydocs-mcp, label: d, blob_bytes: 800, config: {transport: mcp}}
  - {system: pydocs-mcp-composite, label: e, blob_bytes: 800}
  - {system: bm25, label: f, blob_bytes: 0}
"""


def test_what_cannot_be_one_text_is_told_before_anything_runs(toy: Project, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(WRONG)
    with pytest.raises(ConfigError) as caught:
        load_sweep(tmp_path / "s.yaml", toy)
    told = [str(problem).removeprefix(f"{tmp_path}/") for problem in caught.value.problems]
    assert told == [
        "s.yaml:4: `arms[0].depth`: 20: a blob is one item of depth 1; `blob_hits` is how many "
        "hits it is made of",
        "s.yaml:5: `arms[1].blob_hits`: has no meaning without `blob_bytes`",
        "s.yaml:6: `arms[2]`: the hits of `random`, so configured, have no text for `blob_bytes` "
        "to join",
        "s.yaml:7: `arms[3].config`: the hits of `pydocs-mcp`, so configured, have no text for "
        "`blob_bytes` to join",
        f"s.yaml:8: `arms[4]`: {toy.configs}/pipelines/composite.yaml: gives one composite item; "
        "`depth` 50 must be 1; beside `blob_bytes` that is `blob_hits`",
        "s.yaml:9: `arms[5].blob_bytes`: Input should be greater than or equal to 1",
    ]


def test_a_depth_on_the_command_line_is_no_depth_of_a_blob(toy: Project, tmp_path: Path) -> None:
    file = tmp_path / "blob.yaml"
    file.write_text("system: bm25\nblob_bytes: 90\n")
    assert load_system("bm25", file, toy, depth=1).blob == Blob(90, 50)
    with pytest.raises(UsageError, match="20: a blob is one item"):
        load_system("bm25", file, toy, depth=20)


@pytest.mark.dbt
def test_a_text_is_scored_by_content_and_nowhere_else(toy: Project) -> None:
    """Gold of the toy dataset is files: no text can show it."""
    blob = replace(arm("bm25", label="text", depth=1), blob=Blob(8_000, 5))
    run(toy, arm("bm25", label="list"), blob)
    build(toy)
    with open_warehouse(toy) as connection:
        scores = connection.execute(
            "select arm_label, mean, n_scored, null_reason from fct_run_metrics "
            "join dim_runs using (run_id) where metric = 'success@1' order by 1"
        ).fetchall()
        suspects = connection.execute(
            "select suspect_reason from fct_run_completeness where suspect"
        ).fetchall()
    assert scores == [("list", 1.0, 12, None), ("text", None, 0, "no_comparable_output")]
    assert suspects == [("no_comparable_output",)]


def test_chance_by_content_is_lines_of_distinct_files_from_random_places(tmp_path: Path) -> None:
    files = {f"f{number}.py": "".join(f"{number}-{n}\n" for n in range(40)) for number in range(9)}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    corpus = CorpusView("c", "files", tmp_path, tuple(sorted(files)))
    starts = set()
    for seed in range(50):
        hits = random_windows(0, 5)(corpus, Query("t", "", depth=4, seed=seed))
        assert hits == random_windows(0, 5)(corpus, Query("t", "", depth=4, seed=seed))
        assert len({hit.raw_path for hit in hits}) == 4
        for hit in hits:
            assert hit.raw_path is not None
            lines = files[hit.raw_path].split("\n")
            assert hit.start_line is not None
            assert hit.text == "\n".join(lines[hit.start_line - 1 : hit.end_line])
            assert hit.end_line == hit.start_line + 4
            starts.add(hit.start_line)
    # 41 pieces between line breaks give 37 first lines; 200 draws leave few of them out.
    assert min(starts) == 1
    assert len(starts) > 30


def test_chance_by_content_reads_documents_too(project: Project) -> None:
    content = {f"doc-{number}": f"text {number}".encode() for number in range(12)}
    ingest_toy(project, corpora=[ToyCorpus(content, kind="documents")])
    run(project, replace(arm("random", depth=1, window_lines=9), blob=Blob(100, 3)))
    stored = [row["text"] for row in rows(project, "texts") if row["origin"] == "hit"]
    assert stored
    assert all(set(text.split("\n\n")) <= {f"text {n}" for n in range(12)} for text in stored)
    assert all(len(text.split("\n\n")) == 3 for text in stored)


def test_the_blob_study_gives_every_arm_the_same_bytes(toy: Project) -> None:
    study = load_sweep(ROOT / "configs/sweeps/studies/ds1000-blob.yaml", toy)
    assert {spec.blob.max_bytes for spec in study.arms if spec.blob} == {8_000}
    assert all(spec.blob for spec in study.arms)
