-- Grain: one row per run and family.

{{ config(materialized='incremental', incremental_strategy='replace_runs') }}

select
    run_id,
    family,
    sweep_id,
    role,
    primary_metric,
    joined_at
from {{ ref('stg_run_families') }}
