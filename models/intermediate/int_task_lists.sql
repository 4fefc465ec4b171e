-- Grain: one row per run, attempted task and level: what was found where, and how long the list was.

with attempts as (
    select * from {{ ref('stg_attempts') }}
),

task_levels as (
    select * from {{ ref('int_task_levels') }}
),

credits as (
    select * from {{ ref('int_credits') }}
),

file_units as (
    select * from {{ ref('int_file_units') }}
),

matches as (
    select * from {{ ref('int_hit_matches') }}
    where run_id in (select run_id from {{ source('build', 'changed_runs') }})
),

found as (
    select
        run_id,
        task_id,
        level,
        list(unit_rank order by unit_rank) as credit_ranks,
        list(grade order by unit_rank) as credit_grades
    from credits
    group by run_id, task_id, level
),

n_files as (
    select
        run_id,
        task_id,
        max(unit_rank) as n_units
    from file_units
    group by run_id, task_id
),

judged_units as (
    select distinct
        matches.run_id,
        matches.task_id,
        matches.level,
        coalesce(file_units.unit_rank, matches.rank) as unit_rank
    from matches
    left join file_units
        on matches.level = 'file'
        and matches.run_id = file_units.run_id
        and matches.task_id = file_units.task_id
        and matches.rank = file_units.rank
),

judged as (
    select
        run_id,
        task_id,
        level,
        list(unit_rank) as judged_ranks
    from judged_units
    group by run_id, task_id, level
)

select
    attempts.run_id,
    attempts.task_id,
    task_levels.level,
    task_levels.is_primary,
    attempts.dataset,
    attempts.edition,
    attempts.status,
    attempts.depth,
    attempts.covered,
    attempts.resolved_library,
    task_levels.library,
    task_levels.n_relevant,
    attempts.n_hits,
    case
        when task_levels.level = 'file' then coalesce(n_files.n_units, 0)
        else attempts.n_hits
    end as n_units,
    coalesce(found.credit_ranks, []) as credit_ranks,
    coalesce(found.credit_grades, []) as credit_grades,
    coalesce(judged.judged_ranks, []) as judged_ranks
from attempts
inner join task_levels
    on attempts.dataset = task_levels.dataset
    and attempts.edition = task_levels.edition
    and attempts.task_id = task_levels.task_id
left join found
    on attempts.run_id = found.run_id
    and attempts.task_id = found.task_id
    and task_levels.level = found.level
left join judged
    on attempts.run_id = judged.run_id
    and attempts.task_id = judged.task_id
    and task_levels.level = judged.level
left join n_files
    on attempts.run_id = n_files.run_id
    and attempts.task_id = n_files.task_id
    and task_levels.level = 'file'
