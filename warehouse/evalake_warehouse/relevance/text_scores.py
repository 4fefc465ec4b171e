"""Scores of (hit text, gold text) pairs, computed after runs and kept in the lake for all of them.

A pair of contents is scored once, whatever runs return it. Scores below the floor are stored as
"below" without their value, which is what lets the scorer stop early.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evalake_warehouse.lake.reader import LakeListing
from evalake_warehouse.lake.schemas import TABLES
from evalake_warehouse.lake.writer import write_table
from evalake_warehouse.relevance.returned_texts import create_views, datasets_of

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from evalake_warehouse.project import Project

# Identity of the stored scores: other values, and every pair is scored anew.
SCORER = "rapidfuzz.partial_ratio"
SCORER_VERSION = "3"  # major version of rapidfuzz, whose scores are stable within it
TEXT_FLOOR = 60.0

_BLOCK = 2_000  # pairs per call into the scorer, and per progress step
_FILE_PAIRS = 100_000

_MISSING_PAIRS = """
create temp table pairs as
with wanted as (
    select distinct hits.text_sha256, qrels.key as gold_sha256
    from hits
    inner join judgements on hits.run_id = judgements.run_id
    inner join qrels
        on judgements.edition = qrels.edition
        and hits.task_id = qrels.task_id
    where qrels.relation = 'text' and hits.text_sha256 is not null
)

select text_sha256, gold_sha256
from wanted
anti join (
    select * from text_scores
    where scorer = $scorer and scorer_version = $scorer_version and floor <= $floor
) as known
    using (text_sha256, gold_sha256)
"""

_PAIR_TEXTS = """
with distinct_texts as (
    select text_sha256, any_value(text) as text from texts group by text_sha256
)

select
    pairs.text_sha256,
    pairs.gold_sha256,
    hit_texts.text as hit_text,
    gold_texts.text as gold_text
from pairs
inner join distinct_texts as hit_texts on pairs.text_sha256 = hit_texts.text_sha256
inner join distinct_texts as gold_texts on pairs.gold_sha256 = gold_texts.text_sha256
"""


def score_missing_pairs(
    project: Project,
    listing: LakeListing,
    editions: Mapping[str, str],
    *,
    on_progress: Callable[[int, int], None] | None = None,
) -> set[str]:
    """Score every pair that the given runs need and the lake lacks.

    Args:
        editions: the edition that judges each run, per run id.

    The scorer itself spreads a block over all processors. Blocks that were written stay in the
    lake if the work is interrupted.

    Returns:
        Datasets of which some pair has no score, because a text of it is gone from the lake.
    """
    return {
        dataset
        for dataset in datasets_of(listing, editions)
        if not _score_dataset(project, listing, editions, dataset, on_progress)
    }


def _score_dataset(
    project: Project,
    listing: LakeListing,
    editions: Mapping[str, str],
    dataset: str,
    on_progress: Callable[[int, int], None] | None,
) -> bool:
    """Whether all pairs of a dataset that the runs need have a score now."""
    import duckdb

    with duckdb.connect() as connection:
        create_views(connection, listing, editions, dataset, derived="text_scores")
        if not _count(connection, "select count(*) from qrels where relation = 'text'"):
            return True
        key = {"scorer": SCORER, "scorer_version": SCORER_VERSION, "floor": TEXT_FLOOR}
        connection.execute(_MISSING_PAIRS, key)
        n_pairs = _count(connection, "select count(*) from pairs")
        if not n_pairs:
            return True
        waiting: list[pa.Table] = []
        done = 0
        for batch in connection.execute(_PAIR_TEXTS).to_arrow_reader(_BLOCK):
            waiting.append(_score(dataset, batch))
            done += batch.num_rows
            if done % _FILE_PAIRS < _BLOCK:
                _write(project, dataset, waiting)
                waiting = []
            if on_progress:
                on_progress(done, n_pairs)
        _write(project, dataset, waiting)
    return done == n_pairs


def _score(dataset: str, batch: pa.RecordBatch) -> pa.Table:
    import numpy as np
    import pyarrow as pa
    from rapidfuzz import fuzz, process

    hit_texts = batch.column("hit_text").to_pylist()
    gold_texts = batch.column("gold_text").to_pylist()
    scores = process.cpdist(
        hit_texts,
        gold_texts,
        scorer=fuzz.partial_ratio,
        score_cutoff=TEXT_FLOOR,
        dtype=np.float64,
        workers=-1,
    )
    below = scores < TEXT_FLOOR
    n = batch.num_rows
    columns: dict[str, Any] = {
        "dataset": [dataset] * n,
        "text_sha256": batch.column("text_sha256"),
        "gold_sha256": batch.column("gold_sha256"),
        "scorer": [SCORER] * n,
        "scorer_version": [SCORER_VERSION] * n,
        "floor": [TEXT_FLOOR] * n,
        "below_floor": below,
        "text_chars": [len(text) for text in hit_texts],
        "gold_chars": [len(text) for text in gold_texts],
        "score": pa.array(scores, mask=below),
    }
    schema = TABLES["text_scores"].schema
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _write(project: Project, dataset: str, blocks: list[pa.Table]) -> None:
    import pyarrow as pa

    if not blocks:
        return
    write_table(
        project.lake,
        "text_scores",
        pa.concat_tables(blocks).combine_chunks(),
        dataset=dataset,
        run_date=datetime.now(UTC).date(),
        stem=uuid.uuid4().hex,
    )


def _count(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    row = connection.execute(sql).fetchone()
    return int(row[0]) if row else 0
