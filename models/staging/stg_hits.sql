-- Grain: one row per run, task and rank, of the try that counts. The rank is the system's own and
-- is trusted here and everywhere after. Hits without an attempts row were never committed.

with hits as (
    select * from {{ source('lake', 'hits') }}
),

attempts as (
    select * from {{ ref('stg_attempts') }}
)

select
    hits.run_id,
    hits.task_id,
    hits.rank,
    hits.item_id,
    hits.score,
    hits.raw_path,
    hits.path,
    hits.path_status,
    hits.start_line,
    hits.end_line,
    hits.qualified_name,
    hits.doc_id,
    hits.title,
    hits.text_sha256,
    hits.reason,
    hits.branch,
    attempts.dataset,
    attempts.edition
from hits
inner join attempts
    on hits.run_id = attempts.run_id
    and hits.task_id = attempts.task_id
    and hits.attempt = attempts.attempt
