"""Evidence that was torn or lost: what it would decide is unknown, until it is back."""

from __future__ import annotations

import pytest
from lake_factory import NOW, TODAY, RunWriter, docs, write_dataset

from evalake_warehouse.build import build
from evalake_warehouse.identity import sha256_text
from evalake_warehouse.lake.writer import write_rows
from evalake_warehouse.project import Project
from evalake_warehouse.questions.open_warehouse import open_warehouse, rows
from evalake_warehouse.relevance.fingerprint import fingerprint_text

pytestmark = pytest.mark.dbt


def write_run(project: Project, edition: str, lists: dict[str, object]) -> RunWriter:
    run = RunWriter(project.home, edition)
    run.event("started", n_tasks=len(lists))
    run.attempts(lists)  # type: ignore[arg-type]
    return run


def score(project: Project, run: RunWriter, task: str, metric: str = "recall@10") -> object:
    sql = "select value from fct_task_metrics where run_id = ? and task_id = ? and metric = ?"
    with open_warehouse(project) as connection:
        [[value]] = connection.execute(sql, [run.run_id, task, metric]).fetchall()
    return value


@pytest.fixture
def edition(project: Project) -> str:
    return write_dataset(project.home, {"t1": {"a": 1, "b": 2}, "t2": {"c": 1}})


def test_torn_and_newer_files_are_named_and_left_out(project: Project, edition: str) -> None:
    run = write_run(project, edition, {"t1": docs("a")})
    folder = project.lake / "hits" / "dataset=toy" / f"run_date={TODAY}"
    torn = folder / f"{run.run_id}-99999.parquet"
    torn.write_bytes(next(folder.glob("*.parquet")).read_bytes()[:-20])
    result = build(project)
    assert [problem.where for problem in result.skipped_files] == [str(torn)]
    assert "torn" in result.skipped_files[0].what
    assert score(project, run, "t1") == 0.5


def test_a_list_whose_file_was_torn_later_is_unknown_and_not_zero(
    project: Project, edition: str
) -> None:
    run = write_run(project, edition, {"t1": docs("a")})
    build(project)
    hits = next((project.lake / "hits").rglob(f"{run.run_id}*.parquet"))
    hits.write_bytes(hits.read_bytes()[:-20])
    assert len(build(project).skipped_files) == 1
    assert score(project, run, "t1") is None
    hits.unlink()
    build(project)
    with open_warehouse(project) as connection:
        sql = "select distinct null_reason from fct_task_metrics"
        assert rows(connection, sql) == [{"null_reason": "evidence_lost"}]


@pytest.mark.parametrize("table", ["qrels", "gold"])
def test_no_list_is_scored_against_gold_that_was_torn(
    project: Project, edition: str, table: str
) -> None:
    run = write_run(project, edition, {"t1": docs("a"), "t2": "error"})
    file = next((project.lake / table).rglob(f"{edition}.parquet"))
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    assert len(build(project).skipped_files) == 1
    with open_warehouse(project) as connection:
        sql = "select task_id, value, null_reason from fct_task_metrics where metric = 'recall@10'"
        assert connection.execute(f"{sql} order by task_id").fetchall() == [
            ("t1", None, "evidence_lost"),
            ("t2", None, "error"),
        ]
    file.write_bytes(whole)
    build(project)
    assert score(project, run, "t1") == 0.5


@pytest.mark.parametrize("is_deleted", [False, True])
@pytest.mark.parametrize("relation", ["text", "fingerprint"])
def test_a_list_is_unknown_where_a_text_that_would_decide_it_is_gone(
    project: Project, relation: str, is_deleted: bool
) -> None:
    code = "def add(first, second):\n    total = first + second\n    return total\n"
    gold, other = sha256_text(code), sha256_text("nothing of the kind")
    key = gold if relation == "text" else fingerprint_text(code).fingerprint
    edition = write_dataset(project.home, {"t1": {str(key): 1}}, level="symbol", relation=relation)
    texts = [
        {"dataset": "toy", "text_sha256": sha256, "text": text, "origin": "hit"}
        for sha256, text in ((gold, code), (other, "nothing of the kind"))
    ]
    write_rows(project.lake, "texts", texts, dataset="toy", run_date=TODAY, stem="texts")
    run = write_run(project, edition, {"t1": [{"text_sha256": other}, {"text_sha256": gold}]})
    empty = write_run(project, edition, {"t1": "empty"})
    wordless = write_run(project, edition, {"t1": [{"text_sha256": None}]})
    file = next((project.lake / "texts").rglob("texts.parquet"))
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    if is_deleted:
        file.unlink()
    build(project)
    with open_warehouse(project) as connection:
        sql = "select run_id, value, null_reason from fct_task_metrics where metric = 'mrr'"
        assert connection.execute(f"{sql} order by run_id").fetchall() == [
            (run.run_id, None, "evidence_lost"),
            (empty.run_id, 0.0, None),
            (wordless.run_id, 0.0, None),
        ]
    file.write_bytes(whole)
    assert build(project).changed_runs == (run.run_id,)
    assert score(project, run, "t1", "mrr") == 0.5
    file.write_bytes(whole[:-20])  # what was read of it is kept
    assert build(project, full=True).changed_runs == (run.run_id, empty.run_id, wordless.run_id)
    assert score(project, run, "t1", "mrr") == 0.5


def test_a_hit_whose_place_is_known_is_judged_without_its_text(project: Project) -> None:
    edition = write_dataset(project.home, {"t1": {"a": 1}})
    gold = {"dataset": "toy", "edition": edition, "task_id": "t1", "gold_id": "doc:a"}
    qrels = [gold | {"relation": "fingerprint", "key": "f"}]
    write_rows(project.lake, "qrels", qrels, dataset="toy", run_date=TODAY, stem=f"{edition}-more")
    lost = {"text_sha256": "0" * 64}
    run = write_run(project, edition, {"t1": [{"doc_id": "x"} | lost, {"doc_id": "a"} | lost]})
    nameless = write_run(project, edition, {"t1": [lost, {"doc_id": "a"} | lost]})
    build(project)
    assert score(project, run, "t1", "mrr") == 0.5
    assert score(project, nameless, "t1", "mrr") is None


def test_a_run_that_was_torn_and_copied_again_is_judged_as_if_nothing_had_been(
    project: Project, edition: str
) -> None:
    run = write_run(project, edition, {"t1": docs("a")})
    kept = write_run(project, edition, {"t1": docs("a")})
    indexed = {
        "dataset": "toy",
        "run_id": run.run_id,
        "corpus_id": "c0",
        "at": NOW,
        "status": "ok",
        "ingestion_hash": "i",
        "counts_json": "{}",
        "cache_hit": False,
        "seconds": 2.0,
    }
    run._write("index_events", [indexed])
    build(project)
    whole = {path: path.read_bytes() for path in (project.lake / "runs").rglob(f"{run.run_id}*")}
    for path, content in whole.items():
        path.write_bytes(content[:-20])
    damaged = build(project)
    assert (damaged.n_runs, damaged.changed_runs, damaged.removed_runs) == (1, (), (run.run_id,))
    assert damaged.rows["fct_run_latency"] == 0
    for path, content in whole.items():
        path.write_bytes(content)
    assert build(project).changed_runs == (run.run_id,)
    assert score(project, run, "t1") == score(project, kept, "t1") == 0.5
