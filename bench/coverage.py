"""How often 95 % intervals hold the truth, and how often tests cry wolf: nominal against actual.

2,000 simulated data sets a row, judged by the code and SQL that judge real ones. With so many, a
share of 0.95 has a standard error of 0.005. The task numbers, and so the resampling weights, are
the same throughout, as they are when one dataset is used again and again.
"""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evalake_warehouse.identity import task_seed
from evalake_warehouse.project import find_project_dir
from evalake_warehouse.questions.rendered_macros import render_macro
from evalake_warehouse.statistics.intervals import Intervals, Settings, compute_intervals
from evalake_warehouse.statistics.series import Series

DATA_SETS = 2_000
SIZES = (10, 30, 100, 300)
LEVEL = 0.95

Matrix = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Matrix]


def main() -> None:
    """Print the three tables."""
    print(f"coverage of {LEVEL:.0%} intervals of a mean, {DATA_SETS:,} data sets a row")
    print(f"  {'scores':<26}{'n':>5}{'bootstrap':>11}{'Wilson':>9}")
    for name, truth, draw in _populations():
        for n in SIZES:
            scores = draw(np.random.default_rng(n), (DATA_SETS, n))
            found = _intervals(scores)
            wilson = _wilson(scores) if name.startswith("proportion") else None
            shown = "-" if wilson is None else f"{_covers(*wilson, truth):.3f}"
            print(
                f"  {name:<26}{n:>5}{_covers(found.ci_low, found.ci_high, truth):>11.3f}{shown:>9}"
            )

    print("\nthe same with tasks in strata (intra-class correlation 0.3, 10 tasks each)")
    print(f"  {'scores':<26}{'G':>5}{'bootstrap':>11}{'cluster':>9}{'design effect':>15}")
    for groups in (5, 10, 20, 40):
        scores, strata = _clustered(np.random.default_rng(groups), groups)
        found = _intervals(scores, strata)
        plain = _covers(found.ci_low, found.ci_high, 0.5)
        cluster = _covers(found.cluster_low, found.cluster_high, 0.5)
        effect = float(np.mean(found.design_effect))
        print(
            f"  {'normal, cut to [0, 1]':<26}{groups:>5}{plain:>11.3f}{cluster:>9.3f}"
            f"{effect:>15.2f}"
        )

    print(f"\nfalse alarms at {1 - LEVEL:.2f} where two runs are alike, {DATA_SETS:,} pairs a row")
    print(
        f"  {'differences':<26}{'n':>5}{'exact':>9}{'mid-p':>9}{'sign-flip':>11}{'bootstrap':>11}"
    )
    for n in SIZES:
        rng = np.random.default_rng(n)
        binary = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.8, 0.1], size=(DATA_SETS, n))
        graded = rng.beta(0.6, 0.6, (DATA_SETS, n)) - rng.beta(0.6, 0.6, (DATA_SETS, n))
        exact, mid = _mcnemar(binary)
        _print_alarms("binary, 0.2 discordant", n, binary, f"{exact:.3f}", f"{mid:.3f}")
        _print_alarms("graded", n, graded, "-", "-")


def _print_alarms(name: str, n: int, differences: Matrix, exact: str, mid: str) -> None:
    found = _intervals(differences, paired=True)
    flips = float(np.mean(found.sign_flip_p <= 1 - LEVEL))
    outside = 1 - _covers(found.ci_low, found.ci_high, 0.0)
    print(f"  {name:<26}{n:>5}{exact:>9}{mid:>9}{flips:>11.3f}{outside:>11.3f}")


def _populations() -> list[tuple[str, float, Draw]]:
    def proportion(share: float) -> Draw:
        return lambda rng, size: (rng.random(size) < share).astype(np.float64)

    def ndcg_like(rng: np.random.Generator, size: tuple[int, int]) -> Matrix:
        # A third of the tasks find nothing, a quarter everything, the rest something between.
        kind = rng.random(size)
        return np.where(kind < 1 / 3, 0.0, np.where(kind < 7 / 12, 1.0, rng.beta(3, 3, size)))

    shares = (0.5, 0.8, 0.97)
    proportions = [(f"proportion {share}", share, proportion(share)) for share in shares]
    return [*proportions, ("nDCG-like", 1 / 4 + 5 / 12 * 0.5, ndcg_like)]


def _clustered(rng: np.random.Generator, groups: int) -> tuple[Matrix, NDArray[np.int64]]:
    between = rng.normal(0, 0.15 * 0.3**0.5, (DATA_SETS, groups))
    within = rng.normal(0, 0.15 * 0.7**0.5, (DATA_SETS, groups * 10))
    scores = np.clip(0.5 + np.repeat(between, 10, axis=1) + within, 0, 1)
    strata = np.repeat([task_seed("strata", str(group)) for group in range(groups)], 10)
    return scores, strata.astype(np.int64)


def _intervals(
    scores: Matrix, strata: NDArray[np.int64] | None = None, *, paired: bool = False
) -> Intervals:
    many, n = scores.shape
    seeds = np.array([task_seed("coverage", str(i)) for i in range(n)])
    labels = np.full(n, -1) if strata is None else strata
    order = np.argsort(seeds)
    series = Series(
        starts=np.arange(many + 1) * n,
        task_seeds=np.tile(seeds[order], many),
        scores=np.round(scores[:, order] * 1e6).astype(np.int64).ravel(),
        strata=np.tile(labels[order], many),
    )
    settings = Settings(confidence=LEVEL, sign_flips=999)
    return compute_intervals(series, settings, paired=paired, clustered=strata is not None)


def _covers(low: Matrix, high: Matrix, truth: float) -> float:
    return float(np.mean((low <= truth) & (truth <= high)))


def _sql(call: str) -> str:
    macros = find_project_dir() / "warehouse" / "dbt-project" / "macros"
    return render_macro(macros, call, {"confidence": LEVEL})


def _wilson(scores: Matrix) -> tuple[Matrix, Matrix]:
    given = pa.table({"mean": scores.mean(axis=1), "n": np.full(len(scores), scores.shape[1])})
    ends = [
        f"{_sql(f'''stat_wilson_bound('mean', 'n', '{side}', {LEVEL})''')}"
        for side in ("low", "high")
    ]
    found = duckdb.from_arrow(given).project(f"{ends[0]} as low, {ends[1]} as high").fetchnumpy()
    return np.asarray(found["low"]), np.asarray(found["high"])


def _mcnemar(differences: Matrix) -> tuple[float, float]:
    given = pa.table({"b": (differences < 0).sum(axis=1), "c": (differences > 0).sum(axis=1)})
    shares = [
        duckdb.from_arrow(given)
        .aggregate(f"avg(({_sql(f'stat_mcnemar({args})')} <= 0.05)::int)")
        .fetchone()
        for args in ("'b', 'c', mid_p=false", "'b', 'c', mid_p=true")
    ]
    return tuple(share[0] for share in shares if share)


if __name__ == "__main__":
    main()
