-- Grain: one row per family, dataset, edition, split, candidate run and metric: the candidate
-- against the family's baseline on their common tasks.

{{ config(materialized='incremental', incremental_strategy='replace_families') }}

with pairs as (
    select * from {{ ref('int_pairs') }}
),

slices as (
    select * from {{ ref('int_paired_slices') }}
    where dimension is null
),

task_metrics as (
    select * from {{ ref('fct_task_metrics') }}
),

intervals as (
    select * from {{ ref('int_intervals') }}
),

definitions as (
    select * from {{ ref('metric_definitions') }}
),

tests as (
    {{ paired_tests(
        pairs='pairs',
        differences='slices',
        task_metrics='task_metrics',
        intervals='intervals',
        definitions='definitions',
        kind='pair',
    ) }}
)

select * exclude (dimension, dimension_value)
from tests
