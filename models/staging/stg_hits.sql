-- Grain: one row per run, task and rank, of the try that counts. The rank is the system's own, less
-- the hits before it that the dataset ignores, and is trusted here and everywhere after. Hits
-- without an attempts row were never committed.

with hits as (
    select * from {{ source('lake', 'hits') }}
),

attempts as (
    select * from {{ ref('stg_attempts') }}
),

ignored as (
    select * from {{ ref('stg_ignored_hits') }}
)

select
    hits.run_id,
    hits.task_id,
    {{ counted_rank('hits.rank', 'ignored.ranks') }} as rank,
    hits.item_id,
    hits.score,
    hits.raw_path,
    hits.path,
    hits.path_status,
    hits.start_line,
    hits.end_line,
    hits.qualified_name,
    hits.doc_id,
    hits.title,
    hits.text_sha256,
    hits.reason,
    hits.branch,
    attempts.dataset,
    attempts.edition
from hits
inner join attempts
    on hits.run_id = attempts.run_id
    and hits.task_id = attempts.task_id
    and hits.attempt = attempts.attempt
left join ignored
    on hits.run_id = ignored.run_id
    and hits.task_id = ignored.task_id
    and hits.attempt = ignored.attempt
where list_contains(ignored.ranks, hits.rank) is not true
