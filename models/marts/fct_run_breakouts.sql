-- Grain: one row per run, label, value of the label and metric, at the primary level.

{% set confidence = var('confidence') %}

{{ config(materialized='incremental') }}

with task_metrics as (
    select * from {{ ref('fct_task_metrics') }}
    where
        not contains(metric, ':')
        and run_id in (select run_id from {{ source('build', 'changed_runs') }})
),

runs as (
    select * from {{ ref('stg_runs') }}
),

labels as (
    select * from {{ ref('int_task_labels') }}
),

intervals as (
    select * from {{ ref('int_intervals') }}
    where kind = 'breakout'
),

measures as (
    select distinct
        measure,
        is_binary
    from {{ ref('metric_definitions') }}
),

averaged as (
    select
        task_metrics.run_id,
        labels.dimension,
        labels.dimension_value,
        task_metrics.metric,
        any_value(task_metrics.measure) as measure,
        any_value(task_metrics.level) as level,
        count(*) as n_tasks,
        count(task_metrics.value) as n_scored,
        {{ stat_exact_mean('task_metrics.value') }} as mean
    from task_metrics
    inner join runs on task_metrics.run_id = runs.run_id
    inner join labels
        on runs.dataset = labels.dataset
        and runs.edition = labels.edition
        and task_metrics.task_id = labels.task_id
    group by task_metrics.run_id, labels.dimension, labels.dimension_value, task_metrics.metric
)

select
    averaged.run_id,
    averaged.dimension,
    averaged.dimension_value as value,  -- noqa: RF04
    averaged.metric,
    averaged.level,
    averaged.n_tasks,
    averaged.n_scored,
    averaged.mean,
    intervals.ci_low,
    intervals.ci_high,
    case
        when measures.is_binary
            then
                {{ stat_wilson_bound('averaged.mean', 'averaged.n_scored', 'low', confidence) }}
    end as wilson_low,
    case
        when measures.is_binary
            then
                {{ stat_wilson_bound('averaged.mean', 'averaged.n_scored', 'high', confidence) }}
    end as wilson_high,
    {{ stat_interval_note('averaged.n_scored', 'intervals.ci_low', 'intervals.ci_high') }}
        as interval_note
from averaged
left join intervals
    on averaged.run_id = intervals.run_id
    and averaged.dimension = intervals.dimension
    and averaged.dimension_value = intervals.dimension_value
    and averaged.metric = intervals.metric
left join measures on averaged.measure = measures.measure
