-- Grain: one row per family, dataset, edition, split, candidate run and metric: the candidate
-- against the family's baseline on their common tasks.

{{ config(materialized='incremental', incremental_strategy='replace_families') }}

with tests as (
    {{ paired_tests(
        pairs=ref('int_pairs'),
        differences='(select * from ' ~ ref('int_paired_slices') ~ ' where dimension is null)',
        task_metrics=ref('fct_task_metrics'),
        intervals=ref('int_intervals'),
        definitions=ref('metric_definitions'),
        kind='pair',
    ) }}
)

select * exclude (dimension, dimension_value)
from tests
