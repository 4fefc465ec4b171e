-- Grain: one row per run: what happened to its tasks, and whether to believe it.

{{ config(materialized='incremental') }}

with runs as (
    select * from {{ ref('stg_runs') }}
),

attempts as (
    select * from {{ ref('stg_attempts') }}
),

datasets as (
    select * from {{ ref('stg_datasets') }}
),

scores as (
    select
        run_id,
        max(value) as best_score,
        count(value) as n_scores,
        count(value) filter (where not contains(metric, ':')) as n_primary_scores,
        count(*) filter (where null_reason = 'no_comparable_output') as n_incomparable
    from {{ ref('fct_task_metrics') }}
    where
        run_id in (select run_id from {{ source('build', 'changed_runs') }})
        and {{ measure_sql('shows_zero') }}
    group by run_id
),

silent as (
    select
        run_id,
        string_agg(branch, ', ' order by branch) as branches
    from {{ ref('fct_run_branches') }}
    where
        run_id in (select run_id from {{ source('build', 'changed_runs') }})
        and declared
        and n_hits = 0
    group by run_id
),

counted as (
    select
        run_id,
        count(*) filter (where status = 'ok') as n_ok,
        count(*) filter (where status = 'empty') as n_empty,
        count(*) filter (where status = 'error') as n_error,
        count(*) filter (where status = 'timeout') as n_timeout
    from attempts
    group by run_id
),

joined as (
    select
        runs.run_id,
        runs.system,
        runs.status,
        runs.n_tasks,
        coalesce(counted.n_ok, 0) as n_ok,
        coalesce(counted.n_empty, 0) as n_empty,
        coalesce(counted.n_error, 0) as n_error,
        coalesce(counted.n_timeout, 0) as n_timeout,
        datasets.rows_dropped as n_dropped,
        scores.best_score,
        coalesce(scores.n_scores, 0) as n_scores,
        coalesce(scores.n_primary_scores, 0) as n_primary_scores,
        coalesce(scores.n_incomparable, 0) as n_incomparable,
        silent.branches as silent_branches
    from runs
    left join counted on runs.run_id = counted.run_id
    left join datasets
        on runs.dataset = datasets.dataset
        and runs.edition = datasets.edition
    left join scores on runs.run_id = scores.run_id
    left join silent on runs.run_id = silent.run_id
),

-- Some controls are meant to find nothing.
judged as (
    select
        *,
        n_tasks - n_ok - n_empty - n_error - n_timeout as n_not_attempted,
        case
            when n_ok + n_empty + n_error + n_timeout = 0 then 'nothing_attempted'
            when n_ok + n_empty = 0 then 'all_failed'
            when n_scores = 0 and n_incomparable > 0 then 'no_comparable_output'
            when system in {{ words('finding_nothing') }} then null
            when n_ok = 0 then 'all_empty'
            -- One text that names no symbol is no zero where the gold that counts is files.
            when n_primary_scores > 0 and best_score = 0 then 'all_zero'
        end as suspect_reason
    from joined
)

select
    run_id,
    status,
    n_tasks,
    n_ok,
    n_empty,
    n_error,
    n_timeout,
    n_not_attempted,
    n_dropped,
    suspect_reason is not null as suspect,
    suspect_reason,
    -- Nothing is scored, nothing is claimed.
    if(n_scores > 0, silent_branches, null) as silent_branches
from judged
