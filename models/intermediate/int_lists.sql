-- Grain: one row per run, attempted task and level: the list that is to be scored.
-- `list_id` is a short key for this build only.

with attempts as (
    select * from {{ ref('stg_attempts') }}
),

task_levels as (
    select * from {{ ref('int_task_levels') }}
),

ignored as (
    select * from {{ ref('stg_ignored_hits') }}
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
),

unread as (
    select distinct
        lost_texts.run_id,
        lost_texts.task_id,
        lost_texts.attempt,
        gold.level
    from {{ source('build', 'lost_texts') }} as lost_texts
    inner join {{ ref('stg_gold') }} as gold
        on lost_texts.dataset = gold.dataset
        and lost_texts.edition = gold.edition
        and lost_texts.task_id = gold.task_id
        and lost_texts.gold_id = gold.gold_id
    where gold.is_relevant
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
        else attempts.n_hits - coalesce(len(ignored.ranks), 0)
    end as n_units,
    lost.task_id is not null as is_lost,
    -- Whether it holds the task's gold cannot be told.
    task_levels.is_gold_lost or unread.task_id is not null as is_unjudged
from attempts
inner join task_levels
    on attempts.dataset = task_levels.dataset
    and attempts.edition = task_levels.edition
    and attempts.task_id = task_levels.task_id
left join lost
    on attempts.run_id = lost.run_id
    and attempts.task_id = lost.task_id
left join ignored
    on attempts.run_id = ignored.run_id
    and attempts.task_id = ignored.task_id
left join n_files
    on attempts.run_id = n_files.run_id
    and attempts.task_id = n_files.task_id
left join unread
    on attempts.run_id = unread.run_id
    and attempts.task_id = unread.task_id
    and attempts.attempt = unread.attempt
    and task_levels.level = unread.level
