"""Fingerprints of the loose texts that runs returned, computed after runs, once per content.

Texts are untrusted source: they are parsed, never run, in processes of their own, because a
parser that is brought down by its input takes its process along.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from evalake_warehouse.lake.reader import LakeListing
from evalake_warehouse.lake.writer import write_columns
from evalake_warehouse.processes import spawned_pool
from evalake_warehouse.relevance.fingerprint import (
    FINGERPRINT_RULE,
    Fingerprinted,
    fingerprint_text,
)
from evalake_warehouse.relevance.returned_texts import create_views, datasets_of

if TYPE_CHECKING:
    from evalake_warehouse.project import Project

_BLOCK = 5_000
_POOL_FROM = 2_000  # fewer texts take less time than starting processes

_MISSING_TEXTS = """
with wanted as (
    select distinct hits.text_sha256
    from hits
    inner join judgements on hits.run_id = judgements.run_id
    semi join (select distinct edition from qrels where relation = 'fingerprint') as judged
        using (edition)
    where hits.text_sha256 is not null
)

select wanted.text_sha256, any_value(texts.text) as text
from wanted
anti join (select * from text_fingerprints where rule_version = $rule) as known
    using (text_sha256)
left join texts using (text_sha256)
group by wanted.text_sha256
"""


def fingerprint_missing_texts(
    project: Project,
    listing: LakeListing,
    editions: Mapping[str, str],
    *,
    on_progress: Callable[[int, int], None] | None = None,
) -> set[str]:
    """Fingerprint every hit text that the given runs need and the lake lacks.

    Args:
        editions: the edition that judges each run, per run id.

    Returns:
        Datasets of which some text has no fingerprint, because it is gone from the lake.
    """
    import duckdb

    lost: set[str] = set()
    for dataset in datasets_of(listing, editions):
        with duckdb.connect() as connection:
            create_views(connection, listing, editions, dataset, derived="text_fingerprints")
            found = connection.execute(_MISSING_TEXTS, {"rule": FINGERPRINT_RULE}).fetchall()
        rows = [row for row in found if row[1] is not None]
        if len(rows) < len(found):
            lost.add(dataset)
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            results = _fingerprint_all([text for _, text in block])
            _write(project, dataset, [sha256 for sha256, _ in block], results)
            if on_progress:
                on_progress(start + len(block), len(rows))
    return lost


def _fingerprint_all(texts: list[str], *, is_last: bool = False) -> list[Fingerprinted]:
    """Results in order. A text that brings its process down is found by halving the block.

    A process may also have been killed by something else, so one text alone is tried twice.
    """
    workers = 1 if len(texts) < _POOL_FROM else min(os.cpu_count() or 1, 8)
    try:
        with spawned_pool(workers) as pool:
            return list(pool.map(fingerprint_text, texts, chunksize=250))
    except BrokenProcessPool:
        if len(texts) == 1:
            if is_last:
                return [Fingerprinted("too_deep")]
            return _fingerprint_all(texts, is_last=True)
        middle = len(texts) // 2
        return _fingerprint_all(texts[:middle]) + _fingerprint_all(texts[middle:])


def _write(project: Project, dataset: str, hashes: list[str], results: list[Fingerprinted]) -> None:
    write_columns(
        project.lake,
        "text_fingerprints",
        {
            "dataset": [dataset] * len(hashes),
            "text_sha256": hashes,
            "rule_version": [FINGERPRINT_RULE] * len(hashes),
            "status": [result.status for result in results],
            "fingerprint": [result.fingerprint for result in results],
        },
        dataset=dataset,
        run_date=datetime.now(UTC).date(),
        stem=uuid.uuid4().hex,
    )
