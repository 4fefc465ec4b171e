"""Metrics equal trec_eval's, through the compiled models, on lists made to be awkward."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import duckdb
import ir_measures
import pytest
import pytrec_eval
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ir_measures import RR, Judged
from lake_factory import RunWriter, docs, write_dataset

from evalake_warehouse.build.compiled_models import CompiledModels, lay_out, run_models

CUTOFFS = (1, 3, 5, 10, 20, 50, 100)
DEEP = (200, 500, 1000)
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
MEASURES |= {"mrr": "recip_rank", "ap": "map", "ndcg": "ndcg", "rprec": "Rprec"}
CUT = ("recall", "success", "P", "ndcg_cut")
REQUESTED = {
    "recip_rank", "map", "ndcg", "Rprec", *(f"{name}.{','.join(map(str, CUTOFFS))}" for name in CUT)
}  # fmt: skip

LENGTHS = (0, 1, 2, 7, 10, 100)

Qrels = dict[str, dict[str, int]]
Lists = dict[str, list[str]]


def scores_by_us(
    tmp_path: Path,
    models: CompiledModels,
    qrels: Qrels,
    lists: Lists,
    *,
    depth: int = 100,
    primary_metric: str | None = None,
    ignore_identical_ids: bool = False,
) -> dict[tuple[str, str], float | None]:
    home = Path(tempfile.mkdtemp(dir=tmp_path))
    edition = write_dataset(home, qrels, ignore_identical_ids=ignore_identical_ids)
    run = RunWriter(home, edition, depth=depth)
    run.event("started", n_tasks=len(lists), primary_metric=primary_metric)
    run.attempts({task: docs(*items) for task, items in lists.items()})
    connection = duckdb.connect()
    lay_out(connection, models, home)
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


def scores_by_trec(
    qrels: Qrels, lists: Lists, requested: Collection[str] = REQUESTED
) -> dict[str, dict[str, float]]:
    run = {
        task: {item: float(len(items) - rank) for rank, item in enumerate(unique_names(items))}
        for task, items in lists.items()
    }
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(requested))
    result: dict[str, dict[str, float]] = evaluator.evaluate(run)
    return result


def first_relevant(grades: dict[str, int], items: list[str]) -> int | None:
    return next((rank for rank, item in enumerate(items, 1) if grades.get(item, 0) >= 1), None)


def random_case(
    seed: int,
    n_tasks: int,
    *,
    pools: Sequence[int] = (3, 20, 200),
    lengths: Sequence[int] = LENGTHS,
) -> tuple[Qrels, Lists]:
    rng = random.Random(seed)
    qrels, lists = {}, {}
    for number in range(n_tasks):
        task = f"t{number}"
        pool = [f"d{i}" for i in range(rng.choice(pools))]
        judged = rng.sample(pool, k=rng.randint(1, min(len(pool), 12)))
        qrels[task] = {item: rng.choice([0, 1, 1, 1, 2, 3]) for item in judged}
        length = rng.choice(lengths)
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


def test_deep_metrics_and_any_cutoff_asked_for_equal_pytrec_eval(
    tmp_path: Path, models: CompiledModels
) -> None:
    qrels, lists = random_case(3, n_tasks=120, pools=(200, 3000), lengths=(199, 200, 501, 1000))
    ours = scores_by_us(tmp_path, models, qrels, lists, depth=1000, primary_metric="ap@333")
    cut = ",".join(map(str, DEEP))
    theirs = scores_by_trec(
        qrels, lists, {*(f"{name}.{cut}" for name in CUT), f"map_cut.10,100,{cut},333"}
    )
    measures = {
        f"{name}@{k}": f"{their_name}_{k}"
        for k in DEEP
        for name, their_name in zip(("recall", "success", "precision", "ndcg"), CUT, strict=True)
    } | {f"ap@{k}": f"map_cut_{k}" for k in (10, 100, *DEEP, 333)}
    compared = 0
    for task in lists:
        first = first_relevant(qrels[task], lists[task])
        if not any(grade >= 1 for grade in qrels[task].values()):
            continue
        for metric, name in measures.items():
            assert ours[task, metric] == pytest.approx(theirs[task][name], abs=1e-12)
            compared += 1
        for k in (100, *DEEP):
            assert ours[task, f"mrr@{k}"] == (1 / first if first and first <= k else 0)
    assert compared > 1_500


def test_a_run_has_no_row_of_a_deep_metric_that_it_was_not_asked_for(
    tmp_path: Path, models: CompiledModels
) -> None:
    qrels, lists = random_case(4, n_tasks=2)
    shallow = scores_by_us(tmp_path, models, qrels, lists, depth=199, primary_metric="recall@1000")
    assert {metric for _, metric in shallow if metric.endswith(("@200", "@500", "@1000"))} == {
        "recall@1000"
    }
    assert shallow["t0", "recall@1000"] is None
    assert shallow["t0", "ap@100"] is not None


def test_ignored_ids_score_as_lists_without_them(tmp_path: Path, models: CompiledModels) -> None:
    """BEIR's `ignore_identical_ids`: such documents are taken out, then ranks are counted."""
    qrels, lists = random_case(5, n_tasks=100, pools=(20, 60), lengths=(0, 1, 2, 7, 40))
    rng = random.Random(5)
    with_own = {}
    for task, items in lists.items():
        with_own[task] = list(items)
        for _ in range(rng.choice([0, 1, 1, 2])):
            with_own[task].insert(rng.randint(0, len(with_own[task])), task)
        if rng.random() < 0.2:
            qrels[task][task] = 1  # relevant, and no answer all the same
    ours = scores_by_us(tmp_path, models, qrels, with_own, ignore_identical_ids=True)
    theirs = scores_by_trec(qrels, lists)
    compared = 0
    for task, items in lists.items():
        if items and any(grade >= 1 for grade in qrels[task].values()):
            for metric, name in MEASURES.items():
                assert ours[task, metric] == pytest.approx(theirs[task][name], abs=1e-12)
                compared += 1
    assert compared > 1_500
    kept = scores_by_us(tmp_path, models, qrels, with_own)
    assert any(kept[task, "mrr"] != ours[task, "mrr"] for task in lists)


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
