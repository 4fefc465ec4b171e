-- Grain: one row per run, caution and metric, which is NULL for what concerns the whole run.
-- The words for it are in evalake_warehouse/questions/cautions.py.

{{ config(materialized='incremental') }}

with completeness as (
    select * from {{ ref('fct_run_completeness') }}
    where run_id in (select run_id from {{ source('build', 'changed_runs') }})
),

metrics as (
    select * from {{ ref('fct_run_metrics') }}
    where run_id in (select run_id from {{ source('build', 'changed_runs') }})
),

runs as (
    select * from {{ ref('stg_runs') }}
),

branches as (
    select
        run_id,
        count(*) filter (where declared) as n_declared
    from {{ ref('fct_run_branches') }}
    where run_id in (select run_id from {{ source('build', 'changed_runs') }})
    group by run_id
),

lost as (
    select
        run_id,
        count(distinct task_id) as n_lost
    from {{ ref('fct_task_metrics') }}
    where
        run_id in (select run_id from {{ source('build', 'changed_runs') }})
        and measure = 'ap'
        and null_reason = 'evidence_lost'
    group by run_id
),

paths as (
    select
        run_id,
        sum(n_unresolved) as n_unresolved,
        sum(n_paths) as n_paths
    from {{ ref('fct_task_lists') }}
    where run_id in (select run_id from {{ source('build', 'changed_runs') }})
    group by run_id
),

-- Reasons to draw no conclusion from the run at all.
suspects as (
    select
        run_id,
        suspect_reason as caution,
        cast(null as varchar) as metric,
        n_tasks as n,
        n_tasks as of_n,
        cast(null as varchar) as detail,
        true as is_suspect
    from completeness
    where suspect
),

whole_runs as (
    select
        run_id,
        if(status = 'unfinished', 'unfinished', 'not_attempted') as caution,
        n_not_attempted as n,
        n_tasks as of_n,
        cast(null as varchar) as detail
    from completeness
    where
        suspect_reason is distinct from 'nothing_attempted'
        and (n_not_attempted > 0 or status = 'unfinished')
    union all
    select
        run_id,
        'failed' as caution,
        n_error + n_timeout as n,
        n_tasks as of_n,
        null as detail
    from completeness
    where
        suspect_reason is distinct from 'all_failed'
        and n_error + n_timeout > 0
    union all
    select
        completeness.run_id,
        'silent_branches' as caution,
        len(string_split(completeness.silent_branches, ', ')) as n,
        branches.n_declared as of_n,
        completeness.silent_branches as detail
    from completeness
    inner join branches on completeness.run_id = branches.run_id
    where completeness.silent_branches is not null
    union all
    select
        lost.run_id,
        'evidence_lost' as caution,
        lost.n_lost as n,
        runs.n_tasks as of_n,
        null as detail
    from lost
    inner join runs on lost.run_id = runs.run_id
    union all
    select
        run_id,
        'unresolved_paths' as caution,
        n_unresolved as n,
        n_paths as of_n,
        null as detail
    from paths
    where n_unresolved > 0
),

-- Reasons to doubt one metric of it; `detail` is the number of hits asked for.
of_metrics as (
    select
        metrics.run_id,
        'truncated' as caution,
        metrics.metric,
        metrics.n_truncated as n,
        metrics.n_scored as of_n,
        cast(runs.depth as varchar) as detail
    from metrics
    inner join runs on metrics.run_id = runs.run_id
    where metrics.n_truncated > 0
    union all
    select
        metrics.run_id,
        'beyond_depth' as caution,
        metrics.metric,
        metrics.n_tasks as n,
        metrics.n_tasks as of_n,
        cast(runs.depth as varchar) as detail
    from metrics
    inner join runs on metrics.run_id = runs.run_id
    where metrics.n_scored = 0 and metrics.null_reason = 'beyond_depth'
)

select
    run_id,
    caution,
    metric,
    n,
    of_n,
    detail,
    is_suspect
from suspects
union all
select
    run_id,
    caution,
    null as metric,
    cast(n as bigint) as n,
    cast(of_n as bigint) as of_n,
    detail,
    false as is_suspect
from whole_runs
union all
select
    run_id,
    caution,
    metric,
    n,
    of_n,
    detail,
    false as is_suspect
from of_metrics
