-- Grain: one row per run, task and rank, for tasks that have file-level gold.
-- Hits collapse to distinct files: `unit_rank` is the file's place among the files of the list.
-- A hit without a resolved path is a unit of its own, by what the system called it.

with hits as (
    select * from {{ ref('stg_tried_hits') }}
),

attempts as (
    select * from {{ ref('stg_attempts') }}
),

ignored as (
    select * from {{ ref('stg_ignored_hits') }}
),

file_tasks as (
    select distinct
        dataset,
        edition,
        task_id
    from {{ ref('stg_gold') }}
    where level = 'file'
),

named as (
    select
        hits.run_id,
        hits.task_id,
        {{ counted_rank('hits.rank', 'ignored.ranks') }} as rank,
        coalesce(hits.path, hits.raw_path, hits.item_id) as unit
    from hits
    inner join file_tasks
        on hits.dataset = file_tasks.dataset
        and hits.task_id = file_tasks.task_id
    inner join attempts
        on hits.run_id = attempts.run_id
        and hits.task_id = attempts.task_id
        and hits.attempt = attempts.attempt
        and file_tasks.edition = attempts.edition
    left join ignored
        on hits.run_id = ignored.run_id
        and hits.task_id = ignored.task_id
        and hits.attempt = ignored.attempt
    where list_contains(ignored.ranks, hits.rank) is not true
),

first_seen as (
    select
        *,
        min(rank) over (partition by run_id, task_id, unit) as first_rank
    from named
)

select
    run_id,
    task_id,
    rank,
    unit,
    first_rank,
    dense_rank() over (partition by run_id, task_id order by first_rank) as unit_rank
from first_seen
