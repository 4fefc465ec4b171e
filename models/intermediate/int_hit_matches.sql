-- Grain: one row per run, task, level, rank, gold item and relation that recognised it.
-- Every match is here, also those that earn no credit. Rule set `RELEVANCE_RULES` in
-- evalake_warehouse/build/settings.py; raise it when a rule below changes its meaning.

{{ config(materialized='incremental', incremental_strategy='replace_runs') }}

with hits as (
    select * from {{ ref('stg_hits') }}
),

qrels as (
    select * from {{ ref('stg_qrels') }}
),

text_scores as (
    select * from {{ source('lake', 'text_scores') }}
),

text_fingerprints as (
    select * from {{ source('lake', 'text_fingerprints') }}
),

by_file as (
    select
        hits.run_id,
        hits.task_id,
        hits.rank,
        qrels.gold_id,
        qrels.level,
        qrels.grade,
        qrels.is_relevant,
        qrels.relation,
        cast(null as double) as text_score
    from hits
    inner join qrels
        on hits.dataset = qrels.dataset
        and hits.edition = qrels.edition
        and hits.task_id = qrels.task_id
        and hits.path = qrels.path
    where qrels.relation = 'file'
),

by_doc_id as (
    select
        hits.run_id,
        hits.task_id,
        hits.rank,
        qrels.gold_id,
        qrels.level,
        qrels.grade,
        qrels.is_relevant,
        qrels.relation,
        cast(null as double) as text_score
    from hits
    inner join qrels
        on hits.dataset = qrels.dataset
        and hits.edition = qrels.edition
        and hits.task_id = qrels.task_id
        and hits.doc_id = qrels.key
    where qrels.relation = 'doc_id'
),

by_lines as (
    select
        hits.run_id,
        hits.task_id,
        hits.rank,
        qrels.gold_id,
        qrels.level,
        qrels.grade,
        qrels.is_relevant,
        qrels.relation,
        cast(null as double) as text_score
    from hits
    inner join qrels
        on hits.dataset = qrels.dataset
        and hits.edition = qrels.edition
        and hits.task_id = qrels.task_id
        and hits.path = qrels.path
    where qrels.relation in ('lines', 'symbol') and {{ spans_overlap('hits', 'qrels') }}
),

by_name as (
    select
        hits.run_id,
        hits.task_id,
        hits.rank,
        qrels.gold_id,
        qrels.level,
        qrels.grade,
        qrels.is_relevant,
        qrels.relation,
        cast(null as double) as text_score
    from hits
    inner join qrels
        on hits.dataset = qrels.dataset
        and hits.edition = qrels.edition
        and hits.task_id = qrels.task_id
        and hits.qualified_name = qrels.key
    where
        qrels.relation = 'symbol'
        -- The same name in another file is another thing.
        and (hits.path is null or qrels.path is null or hits.path = qrels.path)
),

by_fingerprint as (
    select
        hits.run_id,
        hits.task_id,
        hits.rank,
        qrels.gold_id,
        qrels.level,
        qrels.grade,
        qrels.is_relevant,
        qrels.relation,
        cast(null as double) as text_score
    from hits
    inner join text_fingerprints
        on hits.dataset = text_fingerprints.dataset
        and hits.text_sha256 = text_fingerprints.text_sha256
    inner join qrels
        on hits.dataset = qrels.dataset
        and hits.edition = qrels.edition
        and hits.task_id = qrels.task_id
        and text_fingerprints.fingerprint = qrels.key
    where qrels.relation = 'fingerprint'
),

by_text as (
    select
        hits.run_id,
        hits.task_id,
        hits.rank,
        qrels.gold_id,
        qrels.level,
        qrels.grade,
        qrels.is_relevant,
        qrels.relation,
        text_scores.score as text_score
    from hits
    inner join qrels
        on hits.dataset = qrels.dataset
        and hits.edition = qrels.edition
        and hits.task_id = qrels.task_id
    inner join text_scores
        on hits.dataset = text_scores.dataset
        and hits.text_sha256 = text_scores.text_sha256
        and qrels.key = text_scores.gold_sha256
    where
        qrels.relation = 'text'
        and text_scores.score >= {{ var('text_threshold') }}
        and least(text_scores.text_chars, text_scores.gold_chars) >= {{ var('text_min_chars') }}
),

matches as (
    select * from by_file
    union all
    select * from by_doc_id
    union all
    select * from by_lines
    union all
    select * from by_name
    union all
    select * from by_fingerprint
    union all
    select * from by_text
)

select
    run_id,
    task_id,
    level,
    rank,
    gold_id,
    relation,
    any_value(grade) as grade,
    any_value(is_relevant) as is_relevant,
    max(text_score) as text_score
from matches
group by run_id, task_id, level, rank, gold_id, relation
