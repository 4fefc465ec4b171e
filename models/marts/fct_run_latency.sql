-- Grain: one row per run, phase and temperature.
-- Indexing and searching stay apart. An index taken from the cache took no time that means
-- anything, and a failed task's time is not how long an answer takes: both are left out.

{{ config(materialized='incremental') }}

with timings as (
    select * from {{ ref('stg_timings') }}
),

attempts as (
    select * from {{ ref('stg_attempts') }}
    where status in {{ words('answered') }}
),

index_events as (
    select * from {{ ref('stg_index_events') }}
    where not cache_hit and status = 'ok' and seconds is not null
),

measured as (
    select
        timings.run_id,
        timings.phase,
        timings.temperature,
        timings.seconds
    from timings
    inner join attempts
        on timings.run_id = attempts.run_id
        and timings.task_id = attempts.task_id
    union all
    select
        run_id,
        'index' as phase,
        'cold' as temperature,
        seconds
    from index_events
)

select
    run_id,
    phase,
    temperature,
    count(*) as n,
    min(seconds) as min_s,
    quantile_cont(seconds, 0.5) as p50_s,
    quantile_cont(seconds, 0.95) as p95_s,
    quantile_cont(seconds, 0.99) as p99_s,
    max(seconds) as max_s
from measured
group by run_id, phase, temperature
