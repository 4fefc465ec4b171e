-- Grain: one row per changed run and time that it obtained the index of a corpus, built or from the
-- cache.

with events as (
    select * from {{ source('lake', 'index_events') }}
)

select
    run_id,
    corpus_id,
    ingestion_hash,
    status,
    cache_hit,
    events.at as obtained_at,
    counts_json,
    seconds,
    install_seconds,
    bytes_on_disk,
    n_chunks,
    n_vectors,
    reason,
    arrival_id
from events
