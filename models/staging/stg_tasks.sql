-- Grain: one row per dataset, edition and task.

select
    dataset,
    edition,
    task_id,
    task_seed,
    kind,
    query,
    query_variants_json,
    corpus_id,
    labels_json,
    repo,
    library,
    qa_type,
    qa_subtype,
    stratum
from {{ source('lake', 'tasks') }}
