-- Grain: one row per run, task and rank, of the try that counts. The rank is the system's own, less
-- the hits before it that the dataset ignores, and is trusted here and everywhere after. Hits
-- without an attempts row were never committed.

with hits as (
    select * from {{ ref('stg_tried_hits') }}
),

attempts as (
    select * from {{ ref('stg_attempts') }}
),

ignored as (
    select * from {{ ref('stg_ignored_hits') }}
)

select
    hits.* exclude (dataset, attempt) replace (
        {{ counted_rank('hits.rank', 'ignored.ranks') }} as rank
    ),
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
