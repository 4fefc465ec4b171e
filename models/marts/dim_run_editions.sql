-- Grain: one row per run and edition of its dataset whose questions it answered.

{{ config(materialized='incremental') }}

select
    run_id,
    edition,
    n_tasks,
    is_current
from {{ source('build', 'run_editions') }}
