-- Grain: one row per run, attempted task and level: the list that is to be scored.
-- `list_id` is a short key for this build only.

with attempts as (
    select * from {{ ref('stg_attempts') }}
),

task_levels as (
    select * from {{ ref('int_task_levels') }}
),

n_files as (
    select
        run_id,
        task_id,
        max(unit_rank) as n_units
    from {{ ref('int_file_units') }}
    group by run_id, task_id
),

lost as (
    select * from {{ ref('int_lost_lists') }}
)

select
    row_number() over () as list_id,
    attempts.run_id,
    attempts.task_id,
    attempts.dataset,
    attempts.edition,
    task_levels.level,
    task_levels.is_primary,
    task_levels.n_relevant,
    task_levels.n_by_text,
    task_levels.library,
    attempts.status,
    attempts.depth,
    attempts.output,
    attempts.covered,
    attempts.resolved_library,
    attempts.n_hits,
    case
        when task_levels.level = 'file' then coalesce(n_files.n_units, 0)
        else attempts.n_hits
    end as n_units,
    lost.task_id is not null as is_lost,
    task_levels.is_gold_lost
from attempts
inner join task_levels
    on attempts.dataset = task_levels.dataset
    and attempts.edition = task_levels.edition
    and attempts.task_id = task_levels.task_id
left join lost
    on attempts.run_id = lost.run_id
    and attempts.task_id = lost.task_id
left join n_files
    on attempts.run_id = n_files.run_id
    and attempts.task_id = n_files.task_id
