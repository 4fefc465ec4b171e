"""Which lake files have damaged pages: asked once a query has failed, for DuckDB seldom says it."""

from __future__ import annotations

import glob
import re

import duckdb

from evalake_warehouse.errors import Problem
from evalake_warehouse.lake.reader import LakeListing, sql_literal

# What DuckDB ends a query with when it meets a damaged page.
_OF_PAGES = re.compile(
    "Failed to read file|Invalid string encoding|Unsupported converted type|corrupt|TProtocol|TType"
    "|Out of buffer|don't know what type|Prefetch registered|Payload value|The parquet file",
    re.IGNORECASE,
)


def may_be_damage(error: BaseException) -> bool:
    """Whether an error can come of a damaged lake file."""
    return _OF_PAGES.search(str(error)) is not None


def find_damaged(listing: LakeListing) -> list[Problem]:
    """Files of a lake that cannot be read through; every one is read."""
    problems = []
    with duckdb.connect() as connection:
        for file in listing.files:
            path = sql_literal(glob.escape(str(file.path)))
            try:
                connection.execute(
                    f"select bit_xor(hash(part)) "
                    f"from read_parquet({path}, hive_partitioning = false) as part"
                ).fetchall()
            except duckdb.Error as error:
                told = str(error).splitlines()[0].replace(f'"{file.path}"', "the file")
                what = f"damaged: {told}; delete it or copy it again"
                problems.append(Problem(str(file.path), what))
    return problems
