"""Lists that cannot be judged, because a text that they or the gold consist of is gone."""

from __future__ import annotations

from collections.abc import Collection

from evalake_warehouse.lake.reader import sql_literal

_EMPTY = (
    "create or replace table build.lost_texts (run_id varchar, task_id varchar, attempt bigint, "
    "dataset varchar, edition varchar, gold_id varchar)"
)

# A hit that carries what another relation of the gold item goes by is decided without its text.
_LOST = """
create or replace table build.lost_texts as
with hits as (
    select * from lake.hits
    where text_sha256 is not null and dataset in ({datasets})
),

editions as (
    select run_id, edition from build.judgements
),

by_content as (
    select hits.*, qrels.edition, qrels.gold_id, qrels.relation, qrels.key
    from hits
    inner join editions on hits.run_id = editions.run_id
    inner join lake.qrels as qrels
        on hits.dataset = qrels.dataset
        and editions.edition = qrels.edition
        and hits.task_id = qrels.task_id
    where qrels.relation in ('text', 'fingerprint')
),

unread as (
    select by_content.*
    from by_content
    anti join lake.text_scores as scores
        on by_content.dataset = scores.dataset
        and by_content.text_sha256 = scores.text_sha256
        and by_content.key = scores.gold_sha256
    where by_content.relation = 'text'
    union all
    select by_content.*
    from by_content
    anti join lake.text_fingerprints as fingerprints
        on by_content.dataset = fingerprints.dataset
        and by_content.text_sha256 = fingerprints.text_sha256
    where by_content.relation = 'fingerprint'
)

select distinct
    unread.run_id, unread.task_id, unread.attempt, unread.dataset, unread.edition, unread.gold_id
from unread
anti join lake.qrels as others
    on unread.dataset = others.dataset
    and unread.edition = others.edition
    and unread.task_id = others.task_id
    and unread.gold_id = others.gold_id
    and case others.relation
        when 'doc_id' then unread.doc_id is not null
        when 'symbol' then coalesce(unread.path, unread.qualified_name) is not null
        when 'file' then unread.path is not null
        when 'lines' then unread.path is not null
        else false
    end
"""


def lost_texts_sql(datasets: Collection[str]) -> str:
    """The SQL of `build.lost_texts`: gold items of lists that a lost text leaves undecided.

    Args:
        datasets: where a text is known to be gone; none costs nothing.
    """
    if not datasets:
        return _EMPTY
    return _LOST.format(datasets=", ".join(map(sql_literal, sorted(datasets))))
