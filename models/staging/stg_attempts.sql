-- Grain: one row per run and task: the try that counts, which is the latest ok or empty one,
-- else the latest. A try that was asked another question than the judging edition asks is no
-- evidence for it.

with attempts as (
    select * from {{ source('lake', 'attempts') }}
),

runs as (
    select * from {{ ref('stg_runs') }}
),

other_questions as (
    select * from {{ source('build', 'other_questions') }}
),

valid as (
    select attempts.*
    from attempts
    inner join runs on attempts.run_id = runs.run_id
    anti join other_questions
        on attempts.dataset = other_questions.dataset
        and attempts.edition = other_questions.asked_edition
        and runs.query_variant = other_questions.query_variant
        and runs.edition = other_questions.edition
        and attempts.task_id = other_questions.task_id
),

chosen as (
    select *
    from valid
    qualify {{ counted_try('run_id, task_id') }}
)

select
    chosen.run_id,
    chosen.task_id,
    chosen.attempt,
    chosen.status,
    chosen.reason,
    chosen.n_hits,
    chosen.payload_bytes,
    chosen.payload_sha256,
    chosen.call,
    chosen.resolved_library,
    chosen.n_tool_calls,
    chosen.cost_usd,
    chosen.covered,
    chosen.n_concurrent,
    chosen.started_at,
    runs.dataset,
    runs.edition,
    runs.depth,
    runs.output
from chosen
inner join runs on chosen.run_id = runs.run_id
