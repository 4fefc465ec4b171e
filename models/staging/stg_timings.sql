-- Grain: one row per run, task, phase, temperature and repeat, of the try that counts.

with timings as (
    select * from {{ source('lake', 'timings') }}
),

attempts as (
    select * from {{ ref('stg_attempts') }}
)

select
    timings.run_id,
    timings.task_id,
    timings.phase,
    timings.temperature,
    timings.repeat,
    timings.seconds
from timings
inner join attempts
    on timings.run_id = attempts.run_id
    and timings.task_id = attempts.task_id
    and timings.attempt = attempts.attempt
