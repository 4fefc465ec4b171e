"""Six metrics of 50 runs x 1,000 tasks x 100 hits, from Parquet: our SQL, pytrec_eval, ranx.

Each contender is a process of its own; what counts is its CPU time and peak memory. The others
get their dictionaries the plain way, row by row from pyarrow; ranx has its functions compiled
and cached.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

METRICS = ("recall@10", "success@5", "precision@10", "mrr", "ap", "ndcg@10")
SIZE = {"n_runs": 50, "n_tasks": 1_000, "n_hits": 100}
N_DOCS = 20_000


def main() -> None:
    """Print CPU seconds, peak memory and ratios."""
    from bench.measure import measure_python, ratio_line
    from bench.saved_models import save_models
    from bench.synthetic import write_dataset, write_runs

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_dataset(home / "lake", dataset="bench", n_tasks=SIZE["n_tasks"], n_docs=N_DOCS)
        write_runs(home / "lake", dataset="bench", n_docs=N_DOCS, **SIZE)
        save_models(home)
        print("six metrics, 50 runs x 1,000 tasks x 100 hits")
        ours = measure_python("bench.metrics", "ours", folder)
        print(ratio_line("evalake SQL", ours, ours))
        for name in ("pytrec_eval", "ranx"):
            # The warm-up run is there for ranx, which compiles then.
            theirs = measure_python("bench.metrics", name, folder, runs=1)
            print(ratio_line(name, theirs, ours))


def ours(home: Path) -> None:
    """Matching, credit and metrics, as a build runs them, for the six definitions."""
    import duckdb

    from bench.saved_models import load_models
    from evalake_warehouse.build.compiled_models import lay_out, run_models

    models = load_models(home)
    with duckdb.connect() as connection:
        # One thread, like the others: two use more CPU time in all, and more memory.
        connection.execute("set threads = 1")
        lay_out(connection, models, home)
        connection.execute(f"delete from metric_definitions where metric not in {METRICS}")
        run_models(connection, models, "fct_task_metrics")
        sql = "select metric, avg(value) from fct_task_metrics group by metric order by metric"
        print(connection.execute(sql).fetchall())


def pytrec_eval(home: Path) -> None:
    """Parquet to dictionaries to `evaluate`."""
    import pytrec_eval as trec

    qrels = _qrels(home)
    names = {"recall.10", "success.5", "P.10", "recip_rank", "map", "ndcg_cut.10"}
    for path in _hits(home):
        trec.RelevanceEvaluator(qrels, names).evaluate(_run(path))


def ranx(home: Path) -> None:
    """Parquet to dictionaries to `Run` to `evaluate`."""
    from ranx import Qrels, Run, evaluate

    qrels = Qrels(_qrels(home))
    names = ["recall@10", "hit_rate@5", "precision@10", "mrr", "map", "ndcg@10"]
    for path in _hits(home):
        evaluate(qrels, Run(_run(path)), names, make_comparable=True)


def _hits(home: Path) -> list[Path]:
    return [path for path in (home / "lake/hits").rglob("*.parquet") if path.stem != "_schema"]


def _qrels(home: Path) -> dict[str, dict[str, int]]:
    import pyarrow.parquet as pq

    qrels: dict[str, dict[str, int]] = {}
    for path in (home / "lake/gold").rglob("*.parquet"):
        for row in pq.read_table(path, columns=["task_id", "gold_id", "grade"]).to_pylist():
            qrels.setdefault(row["task_id"], {})[row["gold_id"]] = row["grade"]
    return qrels


def _run(path: Path) -> dict[str, dict[str, float]]:
    import pyarrow.parquet as pq

    run: dict[str, dict[str, float]] = {}
    for row in pq.read_table(path, columns=["task_id", "doc_id", "score"]).to_pylist():
        run.setdefault(row["task_id"], {})[row["doc_id"]] = row["score"]
    return run


if __name__ == "__main__":
    {"ours": ours, "pytrec_eval": pytrec_eval, "ranx": ranx}[sys.argv[1]](Path(sys.argv[2]))
