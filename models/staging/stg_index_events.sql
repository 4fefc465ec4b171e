-- Grain: one row per run and corpus: the last event, which after a resume may be a cache hit.

with events as (
    select * from {{ source('lake', 'index_events') }}
)

select *
from events
qualify row_number() over (
    partition by run_id, corpus_id order by arrival_id desc nulls last, events.at desc
) = 1
