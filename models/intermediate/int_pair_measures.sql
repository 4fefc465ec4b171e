-- Grain: one row per pair, slice and metric: what was measured of that pair alone, for every pair
-- ever made. A pair is measured anew when one of its runs changed.

{{ config(materialized='incremental', database='warehouse') }}

with pairs as (
    select distinct
        baseline_run_id,
        candidate_run_id
    from {{ ref('int_pairs') }}
    where is_due
),

slices as (
    select * from {{ ref('int_paired_slices') }}
),

needed as (
    select baseline_run_id as run_id from pairs
    union
    select candidate_run_id as run_id from pairs
),

task_metrics as (
    select
        run_id,
        metric,
        measure,
        level,
        value,
        null_reason
    from {{ ref('fct_task_metrics') }}
    where run_id in (select run_id from needed)
    union all
    select
        run_id,
        metric,
        measure,
        level,
        value,
        null_reason
    from {{ source('build', 'frozen_metrics') }}
),

intervals as (
    select * from {{ ref('int_intervals') }}
),

definitions as (
    select * from {{ ref('metric_definitions') }}
),

measures as (
    {{ paired_measures('pairs', 'slices', 'task_metrics', 'intervals', 'definitions') }}
)

select * from measures
