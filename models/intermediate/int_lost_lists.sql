-- Grain: one row per changed run and task whose attempt counts hits that the lake does not hold,
-- because a file of theirs is torn or gone. Such a list is not short: it is unknown.

with attempts as (
    select * from {{ ref('stg_tries') }}
),

hits as (
    select * from {{ ref('stg_tried_hits') }}
),

promised as (
    select
        run_id,
        sum(n_hits) as n_hits
    from attempts
    group by run_id
),

present as (
    select * from {{ source('build', 'hit_counts') }}
),

-- Counting per task is left to the few runs whose sums differ.
uneven_runs as (
    select promised.run_id
    from promised
    left join present on promised.run_id = present.run_id
    where promised.n_hits != coalesce(present.n_hits, 0)
),

counted as (
    select
        run_id,
        task_id,
        attempt,
        count(*) as n_hits
    from hits
    where run_id in (select run_id from uneven_runs)
    group by run_id, task_id, attempt
)

select
    chosen.run_id,
    chosen.task_id
from {{ ref('stg_attempts') }} as chosen
left join counted
    on chosen.run_id = counted.run_id
    and chosen.task_id = counted.task_id
    and chosen.attempt = counted.attempt
where
    chosen.run_id in (select run_id from uneven_runs)
    and chosen.n_hits > coalesce(counted.n_hits, 0)
