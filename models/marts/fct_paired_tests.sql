-- Grain: one row per family, dataset, edition, split, candidate run and metric: the candidate
-- against the family's baseline on their common tasks.

{{ config(materialized='incremental', incremental_strategy='replace_families') }}

with pairs as (
    select * from {{ ref('int_pairs') }}
),

measures as (
    select * from {{ ref('int_pair_measures') }}
    where dimension is null
),

tests as (
    {{ paired_tests('pairs', 'measures') }}
)

select * exclude (dimension, dimension_value)
from tests
