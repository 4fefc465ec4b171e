-- Grain: one row per run and corpus: the last event, which after a resume may be a cache hit.

select *
from {{ source('lake', 'index_events') }}
qualify row_number() over (partition by run_id, corpus_id order by index_events.at desc) = 1
