-- Grain: one row per run and family.

{{ config(materialized='incremental') }}

select
    run_id,
    family,
    sweep_id,
    role,
    primary_metric,
    joined_at,
    arrival_id
from {{ ref('stg_run_families') }}
