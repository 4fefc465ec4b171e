-- Grain: one row per run, task, level, rank, gold item and relation that recognised it.
-- Every match is here, also those that earn no credit. Raise RELEVANCE_RULES in
-- evalake_warehouse/build/settings.py when a rule below changes its meaning.

{{ config(materialized='incremental', database='warehouse') }}

-- Read once per rule, of which most touch nothing: cheaper than keeping millions of rows at hand.
with hits as not materialized (
    select * from {{ ref('stg_tried_hits') }}
),

attempts as (
    select * from {{ ref('stg_attempts') }}
),

ignored as (
    select * from {{ ref('stg_ignored_hits') }}
),

qrels as (
    select * from {{ ref('stg_qrels') }}
),

text_scores as (
    select * from {{ ref('stg_text_scores') }}
    where
        score >= {{ var('text_threshold') }}
        and least(text_chars, gold_chars) >= {{ var('text_min_chars') }}
),

text_fingerprints as (
    select * from {{ ref('stg_text_fingerprints') }}
),

by_file as (
    {{ matches_where("qrels.relation = 'file' and hits.path = qrels.path") }}
),

by_doc_id as (
    {{ matches_where("qrels.relation = 'doc_id' and hits.doc_id = qrels.key") }}
),

by_lines as (
    {{ matches_where(
        "qrels.relation in ('lines', 'symbol') and hits.path = qrels.path and "
        ~ spans_overlap('hits', 'qrels')
    ) }}
),

-- The same name in another file is another thing.
by_name as (
    {{ matches_where(
        "qrels.relation = 'symbol' and hits.qualified_name = qrels.key"
        " and (hits.path is null or qrels.path is null or hits.path = qrels.path)"
    ) }}
),

by_fingerprint as (
    {{ matches_where(
        "qrels.relation = 'fingerprint' and text_fingerprints.fingerprint = qrels.key",
        texts='text_fingerprints',
    ) }}
),

by_text as (
    {{ matches_where(
        "qrels.relation = 'text' and text_scores.gold_sha256 = qrels.key",
        texts='text_scores',
        text_score='text_scores.score',
    ) }}
),

-- Few hits match anything, so whether their attempt counts is asked last.
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
),

counted as (
    select
        matches.* replace ({{ counted_rank('matches.rank', 'ignored.ranks') }} as rank)
    from matches
    inner join attempts
        on matches.run_id = attempts.run_id
        and matches.task_id = attempts.task_id
        and matches.attempt = attempts.attempt
        and matches.edition = attempts.edition
    left join ignored
        on matches.run_id = ignored.run_id
        and matches.task_id = ignored.task_id
        and matches.attempt = ignored.attempt
    where list_contains(ignored.ranks, matches.rank) is not true
)

-- A gold item has one level, one grade and any number of qrels.
select
    run_id,
    task_id,
    any_value(level) as level,
    rank,
    gold_id,
    relation,
    any_value(grade) as grade,
    any_value(is_relevant) as is_relevant,
    max(text_score) as text_score
from counted
group by run_id, task_id, rank, gold_id, relation
