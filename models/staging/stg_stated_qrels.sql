-- Grain: one row per dataset, edition, task, gold item and way to recognise it, also where the
-- gold item itself is gone from the lake.

select
    dataset,
    edition,
    task_id,
    gold_id,
    relation,
    key,
    path,
    start_line,
    end_line
from {{ source('lake', 'qrels') }}
