"""Metrics equal trec_eval's, through the compiled models, on lists made to be awkward."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import ir_measures
import pytest
import pytrec_eval
from bench.compiled import CompiledModels, open_lake, run_models
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ir_measures import RR, Judged
from lake_factory import RunWriter, docs, write_dataset

CUTOFFS = (1, 3, 5, 10, 20, 50, 100)
MEASURES = {
    f"{ours}@{k}": f"{theirs}_{k}"
    for k in CUTOFFS
    for ours, theirs in (
        ("recall", "recall"),
        ("success", "success"),
        ("precision", "P"),
        ("ndcg", "ndcg_cut"),
    )
}
MEASURES |= {"mrr": "recip_rank", "ap": "map", "ndcg": "ndcg"}
REQUESTED = {"recall", "success", "P", "ndcg_cut", "recip_rank", "map", "ndcg"}
REQUESTED_CUTS = {
    f"{name}.{','.join(map(str, CUTOFFS))}" for name in ("recall", "success", "P", "ndcg_cut")
}

Qrels = dict[str, dict[str, int]]
Lists = dict[str, list[str]]


def scores_by_us(
    tmp_path: Path, models: CompiledModels, qrels: Qrels, lists: Lists
) -> dict[tuple[str, str], float | None]:
    home = Path(tempfile.mkdtemp(dir=tmp_path))
    edition = write_dataset(home, qrels)
    run = RunWriter(home, edition)
    run.event("started", n_tasks=len(lists))
    run.attempts({task: docs(*items) for task, items in lists.items()})
    files: dict[str, list[Path]] = {}
    for path in (home / "lake").rglob("*.parquet"):
        files.setdefault(path.relative_to(home / "lake").parts[0], []).append(path)
    connection = open_lake(models, files, [run.run_id])
    run_models(connection, models, "fct_task_metrics")
    rows = connection.execute("select task_id, metric, value from fct_task_metrics").fetchall()
    return {(task, metric): value for task, metric, value in rows}


def unique_names(items: list[str]) -> list[str]:
    """A repeated document keeps its place, under a name that no qrel has."""
    seen: set[str] = set()
    named = []
    for rank, item in enumerate(items):
        named.append(f"again-{rank}" if item in seen else item)
        seen.add(item)
    return named


def scores_by_trec(qrels: Qrels, lists: Lists) -> dict[str, dict[str, float]]:
    run = {
        task: {item: float(len(items) - rank) for rank, item in enumerate(unique_names(items))}
        for task, items in lists.items()
    }
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, (REQUESTED - {"recall", "success", "P", "ndcg_cut"}) | REQUESTED_CUTS
    )
    result: dict[str, dict[str, float]] = evaluator.evaluate(run)
    return result


def random_case(seed: int, n_tasks: int) -> tuple[Qrels, Lists]:
    rng = random.Random(seed)
    qrels, lists = {}, {}
    for number in range(n_tasks):
        task = f"t{number}"
        pool = [f"d{i}" for i in range(rng.choice([3, 20, 200]))]
        judged = rng.sample(pool, k=rng.randint(1, min(len(pool), 12)))
        qrels[task] = {item: rng.choice([0, 1, 1, 1, 2, 3]) for item in judged}
        length = rng.choice([0, 1, 2, 7, 10, 100])
        lists[task] = [rng.choice(pool) for _ in range(length)]  # with repetitions
    return qrels, lists


@pytest.mark.parametrize("seed", [1, 2])
def test_every_metric_equals_pytrec_eval_to_1e_12(
    tmp_path: Path, models: CompiledModels, seed: int
) -> None:
    qrels, lists = random_case(seed, n_tasks=400)
    ours, theirs = scores_by_us(tmp_path, models, qrels, lists), scores_by_trec(qrels, lists)
    compared = 0
    for task, items in lists.items():
        relevant = any(grade >= 1 for grade in qrels[task].values())
        for metric, name in MEASURES.items():
            value = ours[task, metric]
            if not relevant:
                assert value is None  # trec_eval says 0; a task without gold says nothing
            elif not items:
                assert value == 0.0  # attempted, found nothing; trec_eval leaves it out
            else:
                assert value == pytest.approx(theirs[task][name], abs=1e-12)
                compared += 1
    assert compared > 5_000


graded = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3), min_size=1, max_size=6)
ranking = st.lists(st.sampled_from("abcdefgh"), max_size=12)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases=st.lists(st.tuples(graded, ranking), min_size=20, max_size=40))
def test_any_lists_score_as_trec_eval_and_ir_measures_score_them(
    tmp_path: Path, models: CompiledModels, cases: list[tuple[dict[str, int], list[str]]]
) -> None:
    qrels = {f"t{i}": grades for i, (grades, _) in enumerate(cases)}
    lists = {f"t{i}": items for i, (_, items) in enumerate(cases)}
    ours, theirs = scores_by_us(tmp_path, models, qrels, lists), scores_by_trec(qrels, lists)
    other: dict[tuple[str, str], Any] = {}
    run = {
        task: {item: float(len(items) - rank) for rank, item in enumerate(unique_names(items))}
        for task, items in lists.items()
        if items
    }
    for measure, metric in ((RR @ 10, "mrr@10"), (Judged @ 10, "judged@10")):
        for found in ir_measures.iter_calc([measure], qrels, run):
            other[found.query_id, metric] = found.value
    for task, items in lists.items():
        if not items or not any(grade >= 1 for grade in qrels[task].values()):
            continue
        for metric, name in MEASURES.items():
            assert ours[task, metric] == pytest.approx(theirs[task][name], abs=1e-12)
        assert ours[task, "mrr@10"] == pytest.approx(other[task, "mrr@10"], abs=1e-12)
        if len(set(items)) == len(items):  # a repeated judged document is judged each time here
            assert ours[task, "judged@10"] == pytest.approx(other[task, "judged@10"], abs=1e-12)
