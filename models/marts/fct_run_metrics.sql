-- Grain: one row per run and metric.

{% set confidence = var('confidence') %}

{{ config(materialized='incremental') }}

with all_task_metrics as not materialized (
    select * from {{ ref('fct_task_metrics') }}
),

task_metrics as (
    select * from all_task_metrics
    where run_id in (select run_id from {{ source('build', 'changed_runs') }})
),

runs as (
    select * from {{ ref('stg_runs') }}
),

intervals as (
    select * from {{ ref('int_intervals') }}
    where kind = 'run'
),

measures as (
    select distinct
        measure,
        is_binary
    from {{ ref('metric_definitions') }}
),

chance as (
    select * from {{ ref('int_chance') }}
),

-- Where no expectation is known, what the latest random control of the same output got.
control_runs as (
    select
        dataset,
        edition,
        split,
        output,
        max(run_id) as run_id
    from {{ ref('dim_runs') }}
    where system in {{ words('chance_systems') }} and status <> 'unfinished'
    group by dataset, edition, split, output
),

control_scores as (
    select
        control_runs.dataset,
        control_runs.edition,
        control_runs.split,
        control_runs.output,
        all_task_metrics.metric,
        {{ stat_exact_mean('all_task_metrics.value') }} as chance
    from all_task_metrics
    inner join control_runs on all_task_metrics.run_id = control_runs.run_id
    group by
        control_runs.dataset,
        control_runs.edition,
        control_runs.split,
        control_runs.output,
        all_task_metrics.metric
),

-- The commonest reason why a task has no score.
reasons as (
    select
        run_id,
        metric,
        null_reason
    from task_metrics
    where value is null
    group by run_id, metric, null_reason
    qualify row_number() over (
        partition by run_id, metric order by count(*) desc, null_reason asc
    ) = 1
),

averaged as (
    select
        run_id,
        metric,
        any_value(measure) as measure,
        any_value(cutoff) as cutoff,
        any_value(level) as level,
        count(value) as n_scored,
        count(*) filter (where null_reason in {{ words('failed') }}) as n_failed,
        count(*) filter (where truncated) as n_truncated,
        {{ stat_exact_mean('value') }} as mean,
        {{ stat_exact_mean(
            'value',
            '(count(value) + count(*) filter (where null_reason in ' ~ words('failed') ~ '))'
        ) }} as mean_strict
    from task_metrics
    group by run_id, metric
)

select
    averaged.run_id,
    averaged.metric,
    averaged.measure,
    averaged.cutoff,
    averaged.level,
    runs.n_tasks,
    averaged.n_scored,
    averaged.n_failed,
    averaged.n_truncated,
    averaged.mean,
    averaged.mean_strict,
    if(averaged.n_scored = 0, reasons.null_reason, null) as null_reason,
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
    intervals.cluster_low,
    intervals.cluster_high,
    intervals.n_clusters,
    intervals.design_effect,
    {{ stat_interval_note('averaged.n_scored', 'intervals.ci_low', 'intervals.ci_high') }}
        as interval_note,
    {{ stat_cluster_note('intervals.n_clusters') }} as cluster_note,
    coalesce(chance.chance, control_scores.chance) as chance
from averaged
inner join runs on averaged.run_id = runs.run_id
left join intervals
    on averaged.run_id = intervals.run_id
    and averaged.metric = intervals.metric
left join reasons
    on averaged.run_id = reasons.run_id
    and averaged.metric = reasons.metric
left join measures on averaged.measure = measures.measure
left join chance
    on averaged.run_id = chance.run_id
    and averaged.metric = chance.metric
left join control_scores
    on runs.dataset = control_scores.dataset
    and runs.edition = control_scores.edition
    and runs.split = control_scores.split
    and runs.output = control_scores.output
    and averaged.metric = control_scores.metric
