"""The statistical SQL macros against scipy, statsmodels and hand-worked tables."""

from __future__ import annotations

import math

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from statistics_helpers import macro, value_of
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint


def mcnemar_p(b: int, c: int, mid_p: bool) -> float:
    return float(value_of(macro(f"stat_mcnemar('{b}', '{c}', mid_p={mid_p})")))


@pytest.mark.parametrize(
    ("b", "c"),
    [(0, 1), (1, 0), (0, 6), (5, 5), (3, 9), (12, 2), (40, 61), (500, 430), (5000, 4900)],
)
def test_mcnemar_exact_and_mid_p_agree_with_statsmodels_and_scipy(b: int, c: int) -> None:
    exact = mcnemar([[10, b], [c, 20]], exact=True).pvalue
    assert mcnemar_p(b, c, mid_p=False) == pytest.approx(exact, rel=1e-9)
    tail = stats.binomtest(min(b, c), b + c).pvalue
    pmf = stats.binom.pmf(min(b, c), b + c, 0.5)
    mid = 1 - pmf / 2 if b == c else tail - pmf
    assert mcnemar_p(b, c, mid_p=True) == pytest.approx(mid, rel=1e-9)


def test_no_discordant_pair_gives_p_1() -> None:
    # statsmodels' chi-square gives 0 here.
    assert mcnemar_p(0, 0, mid_p=False) == 1
    assert mcnemar_p(0, 0, mid_p=True) == 1


def test_a_hand_worked_mcnemar_table() -> None:
    # One against five of six throws: exact 2 * (1 + 6) / 64, mid-p less 6 / 64.
    assert mcnemar_p(1, 5, mid_p=False) == pytest.approx(14 / 64)
    assert mcnemar_p(1, 5, mid_p=True) == pytest.approx(8 / 64)


def test_mcnemar_is_the_same_from_both_sides() -> None:
    assert mcnemar_p(3, 17, mid_p=True) == mcnemar_p(17, 3, mid_p=True)


@pytest.mark.parametrize("p", [0.5, 0.6, 0.8, 0.925, 0.95, 0.975, 0.995, 0.9995])
def test_normal_quantiles_agree_with_scipy(p: float) -> None:
    assert value_of(macro(f"stat_normal_quantile({p})")) == pytest.approx(
        stats.norm.ppf(p), rel=1e-14, abs=1e-15
    )


@pytest.mark.parametrize(("hits", "n"), [(0, 7), (5, 5), (3, 10), (97, 100), (1, 1)])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_wilson_agrees_with_statsmodels(hits: int, n: int, confidence: float) -> None:
    low, high = proportion_confint(hits, n, alpha=1 - confidence, method="wilson")
    share = f"({hits} / {n})"
    for side, expected in (("low", low), ("high", high)):
        found = value_of(macro(f"stat_wilson_bound('{share}', '{n}', '{side}', {confidence})"))
        assert found == pytest.approx(expected, abs=1e-12)


def test_five_of_five_is_not_certain() -> None:
    # Textbook value: 1 / (1 + 1.96^2 / 5).
    assert value_of(macro("stat_wilson_bound('1.0', '5', 'low', 0.95)")) == pytest.approx(
        0.5655, abs=1e-4
    )
    assert value_of(macro("stat_wilson_bound('1.0', '5', 'high', 0.95)")) == 1


def test_no_task_has_no_wilson_interval() -> None:
    assert value_of(macro("stat_wilson_bound('null', '0', 'low', 0.95)")) is None
    assert value_of(macro("stat_wilson_bound('null', '0', 'high', 0.95)")) is None


def adjusted(p_values: list[float | None], method: str) -> list[float | None]:
    values = ", ".join(
        f"({i}, {'null' if p is None else float(p)}::double)" for i, p in enumerate(p_values)
    )
    window = macro(f"stat_{method}('p', 'family', 'nth', 'n')")
    sql = f"""
        with given as (select 'f' as family, i, p from (values {values}) as v(i, p)),
        ranked as (
            select *, count(p) over () as n, row_number() over (order by p nulls last, i) as nth
            from given
        )
        select {window} from ranked order by i
    """
    return [row[0] for row in duckdb.sql(sql).fetchall()]


@pytest.mark.parametrize(("ours", "theirs"), [("holm", "holm"), ("benjamini_hochberg", "fdr_bh")])
def test_adjusted_p_agree_with_statsmodels(ours: str, theirs: str) -> None:
    rng = np.random.default_rng(2)
    for n in (1, 2, 7, 50):
        p = [float(one) for one in np.round(rng.random(n) ** 3, 3)]
        p += p[:2]  # ties
        assert adjusted(p, ours) == pytest.approx(multipletests(p, method=theirs)[1], abs=1e-12)


def test_tests_that_could_not_be_made_are_not_counted() -> None:
    assert adjusted([0.01, None, 0.04], "holm") == pytest.approx([0.02, None, 0.04])
    assert adjusted([0.01, None, 0.04], "benjamini_hochberg") == pytest.approx([0.02, None, 0.04])


def detectable(is_binary: bool, discordant: float, sd: float, n: int) -> float | None:
    call = f"stat_minimum_detectable_effect('{is_binary}', '{discordant}', '{sd}', '{n}', 0.95)"
    return value_of(macro(call))  # type: ignore[no-any-return]


@pytest.mark.parametrize(("n", "expected"), [(100, 0.124), (300, 0.072), (1_000, 0.040)])
def test_the_detectable_effect_of_binary_pairs_is_the_published_table(
    n: int, expected: float
) -> None:
    assert detectable(True, 0.2 * n, 0.4, n) == pytest.approx(expected, abs=0.0006)


def test_the_detectable_effect_solves_the_sample_size_formula() -> None:
    delta = detectable(True, 20, 0.4, 100)
    assert delta is not None
    needed = (1.959964 * 0.2**0.5 + 0.841621 * (0.2 - delta**2) ** 0.5) ** 2 / delta**2
    assert needed == pytest.approx(100, rel=1e-4)


def test_thirty_tasks_cannot_show_a_difference_of_a_fifth() -> None:
    delta = detectable(True, 6, 0.4, 30)
    assert delta is not None
    assert delta > 0.2


def test_the_detectable_effect_of_graded_pairs_is_2_80_standard_errors() -> None:
    assert detectable(False, 0, 0.3, 225) == pytest.approx(2.8016 * 0.3 / 15, rel=1e-4)
    assert detectable(False, 0, 0.0, 225) is None


def chance(measure: str, n: int, r: int, k: int, **columns: float) -> float:
    row = {
        "measure": f"'{measure}'",
        "n_files": n,
        "n_relevant": r,
        "n_drawn": k,
        "cutoff": k,
        "total_grade": r,
        "ideal_dcg": "null",
        **columns,
    }
    given = ", ".join(f"{value} as {name}" for name, value in row.items())
    expression = macro("measure_sql('chance')")
    found = duckdb.sql(f"select {expression} from (select {given})").fetchone()
    assert found is not None
    return float(found[0])


def test_chance_is_what_shuffled_rankings_score() -> None:
    rng = np.random.default_rng(12)
    n, r, k = 30, 4, 10
    order = np.argsort(rng.random((40_000, n)), axis=1)[:, :k] < r
    first = np.where(order.any(axis=1), 1 / (order.argmax(axis=1) + 1), 0)
    discounts = 1 / np.log2(np.arange(2, k + 2))
    precision_at = np.cumsum(order, axis=1) / np.arange(1, k + 1)
    simulated = {
        "success": order.any(axis=1).mean(),
        "recall": order.sum(axis=1).mean() / r,
        "precision": order.mean(),
        "rr": first.mean(),
        "ap": (precision_at * order).sum(axis=1).mean() / r,
        "ndcg": (order * discounts).sum(axis=1).mean() / discounts[:r].sum(),
    }
    for measure, expected in simulated.items():
        found = chance(measure, n, r, k, ideal_dcg=float(discounts[:r].sum()))
        # 40,000 shuffles of a score in [0, 1]: standard error at most 0.0025.
        assert found == pytest.approx(expected, abs=0.008), measure


def test_a_draw_that_must_hit_has_chance_1() -> None:
    assert chance("success", 5, 3, 3) == 1
    assert chance("success", 5, 3, 2) == pytest.approx(1 - 1 / 10)


def verdict(
    n: int, p: float | None, diff: float | None, low: float | None, high: float | None
) -> str:
    def sql(value: float | None) -> str:
        return "null" if value is None else repr(value)

    call = (
        f"stat_verdict('{n}', '{sql(p)}', '{sql(diff)}', "
        f"[('{sql(low)}', '{sql(high)}')], 0.95, 0.02, 10)"
    )
    return str(value_of(macro(call)))


def test_verdicts() -> None:
    assert verdict(100, 0.01, 0.1, 0.05, 0.15) == "better"
    assert verdict(100, 0.01, -0.1, -0.15, -0.05) == "worse"
    assert verdict(100, 0.40, 0.0, -0.01, 0.02) == "no_difference"
    assert verdict(100, 0.40, 0.0, -0.03, 0.01) == "insufficient"
    # Significance is not given to nine pairs, nor to none.
    assert verdict(9, 0.001, 0.9, 0.8, 1.0) == "insufficient"
    assert verdict(0, None, None, None, None) == "insufficient"


def test_a_mean_has_the_same_bits_in_any_order_and_on_any_number_of_threads() -> None:
    values = np.random.default_rng(3).random(300_000)
    found = set()
    for threads, order in ((1, "nth"), (4, "nth"), (4, "hash(nth)")):
        connection = duckdb.connect(config={"threads": threads})
        connection.register("given", pa.table({"value": values, "nth": np.arange(len(values))}))
        connection.execute(f"create table scores as select * from given order by {order}")
        mean = macro("stat_exact_mean('value')")
        found.add(connection.execute(f"select {mean} from scores").fetchall()[0][0])
    assert len(found) == 1
    assert found.pop() == pytest.approx(math.fsum(values) / len(values), abs=1e-15)
