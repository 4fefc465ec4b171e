"""Grain: one row per series of `int_series`.

The one model that is not SQL: the bootstrap is a matrix product, which numpy does five times as
fast with the same bits.
"""

RULES = "1"


def model(dbt, session):  # noqa: ARG001 - the signature is dbt's
    """Bootstrap, cluster intervals and sign-flip tests of all changed series."""
    from evalake_warehouse.statistics.intervals import STATISTICS_RULES
    from evalake_warehouse.statistics.relation import configured_intervals

    dbt.config(materialized="table")
    if RULES != STATISTICS_RULES:
        raise ValueError(f"int_intervals has rules {RULES}, evalake_warehouse {STATISTICS_RULES}")
    return configured_intervals(dbt.ref("int_series"), dbt.config.get("meta"))
