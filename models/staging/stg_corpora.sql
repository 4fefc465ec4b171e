-- Grain: one row per dataset and corpus, as often as it was written.

select
    dataset,
    corpus_id,
    kind,
    origin,
    n_files,
    n_bytes,
    n_symbols,
    created_at,
    repo,
    commit,
    rule
from {{ source('lake', 'corpora') }}
