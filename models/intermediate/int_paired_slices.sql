-- Grain: one row per pair that is due, slice, metric and task both were scored on.
-- `dimension` is NULL for whole runs; slices by label are made for the primary metric only.

with pairs as (
    select * from {{ ref('int_pairs') }}
    where is_due
),

-- All runs ever: each use reads the few that it needs.
task_metrics as not materialized (
    select * from {{ ref('fct_task_metrics') }}
),

frozen_metrics as (
    select * from {{ source('build', 'frozen_metrics') }}
),

tasks as (
    select * from {{ ref('dim_tasks') }}
),

paired as (
    {{ paired_values('pairs', 'task_metrics', 'task_metrics', 'tasks') }}
    union all
    {{ paired_values('pairs', 'frozen_metrics', 'task_metrics', 'tasks') }}
),

primary_metrics as (
    select distinct
        baseline_run_id,
        candidate_run_id,
        primary_metric
    from pairs
),

labels as (
    select * from {{ ref('int_task_labels') }}
)

select
    paired.dataset,
    paired.edition,
    paired.baseline_run_id,
    paired.candidate_run_id,
    paired.metric,
    paired.task_id,
    paired.task_seed,
    paired.stratum_seed,
    paired.baseline_value,
    paired.candidate_value,
    paired.difference,
    cast(null as varchar) as dimension,
    cast(null as varchar) as dimension_value
from paired
union all
select
    paired.dataset,
    paired.edition,
    paired.baseline_run_id,
    paired.candidate_run_id,
    paired.metric,
    paired.task_id,
    paired.task_seed,
    paired.stratum_seed,
    paired.baseline_value,
    paired.candidate_value,
    paired.difference,
    labels.dimension,
    labels.dimension_value
from paired
inner join primary_metrics
    on paired.baseline_run_id = primary_metrics.baseline_run_id
    and paired.candidate_run_id = primary_metrics.candidate_run_id
    and paired.metric = primary_metrics.primary_metric
inner join labels
    on paired.dataset = labels.dataset
    and paired.edition = labels.edition
    and paired.task_id = labels.task_id
