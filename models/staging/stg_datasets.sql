-- Grain: one row per dataset and edition. An edition that was ingested once more, after another
-- one, is the latest again.

with arrivals as (
    select * from {{ source('lake', 'datasets') }}
),

editions as (
    select *
    from arrivals
    qualify row_number() over (
        partition by dataset, edition
        order by arrival_id desc nulls last, ingested_at desc
    ) = 1
)

select
    dataset,
    edition,
    revision,
    loader_version,
    source,
    licence,
    citation,
    caveats,
    primary_level,
    primary_metric,
    default_split,
    rows_read,
    rows_kept,
    rows_dropped,
    ingested_at,
    sha256,
    strata_label,
    arrival_id,
    selection_json,
    coalesce(ignore_identical_ids, false) as ignore_identical_ids,
    row_number() over (
        partition by dataset
        order by arrival_id desc nulls last, ingested_at desc
    ) = 1 as is_latest
from editions
