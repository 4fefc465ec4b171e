-- Grain: one row per changed run, task, try and rank, whether the try counts or
-- not. The rank is the system's own.

select
    dataset,
    run_id,
    task_id,
    attempt,
    rank,
    item_id,
    score,
    raw_path,
    path,
    path_status,
    start_line,
    end_line,
    qualified_name,
    doc_id,
    title,
    text_sha256,
    reason,
    branch
from {{ source('lake', 'hits') }}
