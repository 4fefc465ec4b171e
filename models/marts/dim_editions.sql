-- Grain: one row per dataset and edition in the lake.

select
    dataset,
    edition,
    is_latest,
    revision,
    loader_version,
    primary_level,
    primary_metric,
    default_split,
    ignore_identical_ids,
    rows_read,
    rows_kept,
    rows_dropped,
    selection_json,
    ingested_at
from {{ ref('stg_datasets') }}
