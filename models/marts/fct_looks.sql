-- Grain: one row per run that used tasks from the test tail.

{{ config(materialized='incremental') }}

select
    run_id,
    looked_at,
    dataset,
    edition,
    split,
    arm_hash,
    family,
    who,
    why,
    confirmatory,
    batch
from {{ ref('stg_looks') }}
