-- Grain: one row per run and branch of its system: declared, or seen on a hit.
-- A hit that several branches found (`bm25+dense`) counts for each of them. What is not known is
-- NULL: everything where hits are gone from the lake, what was earned where no list was judged.

{{ config(materialized='incremental') }}

with runs as (
    select * from {{ ref('stg_runs') }}
),

hits as (
    select * from {{ ref('fct_hits') }}
    where
        branch is not null
        and run_id in (select run_id from {{ source('build', 'changed_runs') }})
),

lost as (
    select distinct run_id
    from {{ ref('int_lost_lists') }}
),

-- `ap` has no cutoff, so what keeps it from a list keeps every metric from it.
judged as (
    select
        run_id,
        count(*) filter (where null_reason = 'evidence_lost') = 0
        and (
            count(value) > 0
            or count(*) filter (where null_reason = 'no_comparable_output') = 0
        ) as is_judged
    from {{ ref('fct_task_metrics') }}
    where
        metric = 'ap'
        and run_id in (select run_id from {{ source('build', 'changed_runs') }})
    group by run_id
),

declared as (
    select
        run_id,
        unnest(from_json(branches_json, '["VARCHAR"]')) as branch
    from runs
    where branches_json is not null
),

-- Hits found together are counted before their names are taken apart: sets are few, hits many.
found_together as (
    select
        run_id,
        task_id,
        list_distinct(string_split(branch, '+')) as branches,
        count(*) as n_hits,
        count(*) filter (where rank = 1) as n_first,
        count(*) filter (where credited) as n_credited
    from hits
    group by run_id, task_id, branch
),

shares as (
    select
        run_id,
        task_id,
        n_hits,
        n_first,
        n_credited,
        if(len(branches) = 1, n_credited, 0) as n_credited_alone,
        unnest(branches) as branch
    from found_together
),

seen as (
    select
        run_id,
        branch,
        count(distinct task_id) as n_tasks,
        sum(n_hits) as n_hits,
        sum(n_first) as n_first,
        sum(n_credited) as n_credited,
        sum(n_credited_alone) as n_credited_alone
    from shares
    group by run_id, branch
),

counted as (
    select
        coalesce(declared.run_id, seen.run_id) as run_id,
        coalesce(declared.branch, seen.branch) as branch,
        declared.run_id is not null as declared,
        coalesce(seen.n_tasks, 0) as n_tasks,
        cast(coalesce(seen.n_hits, 0) as bigint) as n_hits,
        cast(coalesce(seen.n_first, 0) as bigint) as n_first,
        cast(coalesce(seen.n_credited, 0) as bigint) as n_credited,
        cast(coalesce(seen.n_credited_alone, 0) as bigint) as n_credited_alone
    from declared
    full join seen
        on declared.run_id = seen.run_id
        and declared.branch = seen.branch
)

select
    counted.run_id,
    counted.branch,
    counted.declared,
    if(lost.run_id is null, counted.n_tasks, null) as n_tasks,
    if(lost.run_id is null, counted.n_hits, null) as n_hits,
    if(lost.run_id is null, counted.n_first, null) as n_first,
    if(coalesce(judged.is_judged, true), counted.n_credited, null) as n_credited,
    if(coalesce(judged.is_judged, true), counted.n_credited_alone, null) as n_credited_alone
from counted
left join lost on counted.run_id = lost.run_id
left join judged on counted.run_id = judged.run_id
