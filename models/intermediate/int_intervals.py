"""Grain: one row per series of `int_series`.

The one model that is not SQL: the bootstrap is a matrix product, which numpy does five times as
fast with the same bits.
"""

RULES = "1"


def model(dbt, session):  # noqa: ARG001 - the signature is dbt's
    """Bootstrap, cluster intervals and sign-flip tests of all changed series."""
    from evalake_warehouse.statistics.intervals import STATISTICS_RULES, Settings
    from evalake_warehouse.statistics.relation import interval_table

    dbt.config(materialized="table")
    if RULES != STATISTICS_RULES:
        raise ValueError(f"int_intervals has rules {RULES}, evalake_warehouse {STATISTICS_RULES}")
    wanted = dbt.config.get("meta")
    settings = Settings(
        confidence=float(wanted["confidence"]),
        resamples=int(wanted["resamples"]),
        bootstrap_seed=int(wanted["bootstrap_seed"]),
        sign_flips=int(wanted["sign_flips"]),
    )
    return interval_table(dbt.ref("int_series"), settings)
