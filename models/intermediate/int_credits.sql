-- Grain: one row per run, task, level and gold item that was found: where it was credited.
-- Walking down the list, a hit earns at most one relevant gold item: the highest grade not yet
-- credited, ties by gold_id. What matches beyond that earns nothing, here or later.

with matches as (
    select * from {{ ref('int_hit_matches') }}
    where
        is_relevant
        and run_id in (select run_id from {{ source('build', 'changed_runs') }})
),

file_units as (
    select * from {{ ref('int_file_units') }}
),

ranked as (
    select distinct
        matches.run_id,
        matches.task_id,
        matches.level,
        matches.gold_id,
        matches.grade,
        if(matches.level = 'file', file_units.unit_rank, matches.rank) as unit_rank
    from matches
    left join file_units
        on matches.run_id = file_units.run_id
        and matches.task_id = file_units.task_id
        and matches.rank = file_units.rank
),

-- Where some unit may earn one of several.
contested_tasks as (
    select
        run_id,
        task_id,
        level
    from ranked
    group by run_id, task_id, level
    having count(*) > count(distinct unit_rank)
),

uncontested as (
    select
        ranked.run_id,
        ranked.task_id,
        ranked.level,
        ranked.gold_id,
        min(ranked.unit_rank) as unit_rank
    from ranked
    anti join contested_tasks
        on ranked.run_id = contested_tasks.run_id
        and ranked.task_id = contested_tasks.task_id
        and ranked.level = contested_tasks.level
    group by ranked.run_id, ranked.task_id, ranked.level, ranked.gold_id
),

-- What each unit of a contested task may earn, best first.
choices as (
    select
        ranked.run_id,
        ranked.task_id,
        ranked.level,
        ranked.unit_rank,
        list(ranked.gold_id order by ranked.grade desc, ranked.gold_id asc) as gold_ids
    from ranked
    semi join contested_tasks
        on ranked.run_id = contested_tasks.run_id
        and ranked.task_id = contested_tasks.task_id
        and ranked.level = contested_tasks.level
    group by ranked.run_id, ranked.task_id, ranked.level, ranked.unit_rank
),

walked as (
    select
        run_id,
        task_id,
        level,
        list(unit_rank order by unit_rank) as unit_ranks,
        list_reduce(  -- noqa: PRS
            list(gold_ids order by unit_rank),
            lambda earned, choice: list_append(
                earned, list_filter(choice, lambda gold_id: not list_contains(earned, gold_id))[1]
            ),
            cast([] as varchar[])
        ) as earned
    from choices
    group by run_id, task_id, level
),

contested as (
    select
        run_id,
        task_id,
        level,
        unnest(earned) as gold_id,
        unnest(unit_ranks) as unit_rank
    from walked
),

credited as (
    select * from uncontested
    union all
    select * from contested
    where gold_id is not null
),

grades as (
    select distinct
        run_id,
        task_id,
        level,
        gold_id,
        grade
    from ranked
)

select
    credited.run_id,
    credited.task_id,
    credited.level,
    credited.gold_id,
    grades.grade,
    credited.unit_rank
from credited
inner join grades
    on credited.run_id = grades.run_id
    and credited.task_id = grades.task_id
    and credited.level = grades.level
    and credited.gold_id = grades.gold_id
