-- Grain: one row per changed run, task and try, whether it counts or not.

select
    dataset,
    edition,
    run_id,
    task_id,
    attempt,
    status,
    n_hits,
    n_concurrent,
    started_at,
    reason,
    payload_bytes,
    payload_sha256,
    call,
    resolved_library,
    n_tool_calls,
    cost_usd,
    covered
from {{ source('lake', 'attempts') }}
