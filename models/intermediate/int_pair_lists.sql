-- Grain: one row per pair of runs of changed families with a common answered task.

with pairs as (
    select * from {{ ref('int_pairs') }}
    where baseline_kind = 'run'
),

needed as (
    select baseline_run_id as run_id from pairs
    union
    select candidate_run_id as run_id from pairs
),

lists as (
    select
        run_id,
        task_id,
        list_digest
    from {{ ref('fct_task_lists') }}
    where run_id in (select run_id from needed)
),

counted as (
    {{ paired_lists('pairs', 'lists') }}
)

select * from counted
