-- Grain: one row per series and task. A series is a list of task scores that gets an interval: a
-- changed run on a metric, the same for one value of a label, or the differences of a pair.

with task_metrics as (
    select * from {{ ref('fct_task_metrics') }}
    where
        value is not null
        and run_id in (select run_id from {{ source('build', 'changed_runs') }})
),

runs as (
    select * from {{ ref('stg_runs') }}
),

tasks as (
    select * from {{ ref('dim_tasks') }}
),

labels as (
    select * from {{ ref('int_task_labels') }}
),

slices as (
    select * from {{ ref('int_paired_slices') }}
),

scores as (
    select
        task_metrics.run_id,
        task_metrics.metric,
        task_metrics.task_id,
        tasks.dataset,
        tasks.edition,
        tasks.task_seed,
        {{ stat_stratum_seed('tasks.stratum') }} as stratum_seed,
        {{ stat_millionths('task_metrics.value') }} as score
    from task_metrics
    inner join runs on task_metrics.run_id = runs.run_id
    inner join tasks
        on runs.dataset = tasks.dataset
        and runs.edition = tasks.edition
        and task_metrics.task_id = tasks.task_id
),

of_runs as (
    select
        'run' as kind,
        cast(null as varchar) as baseline_run_id,
        run_id,
        cast(null as varchar) as dimension,
        cast(null as varchar) as dimension_value,
        metric,
        task_seed,
        stratum_seed,
        score
    from scores
),

of_breakouts as (
    select
        'breakout' as kind,
        cast(null as varchar) as baseline_run_id,
        scores.run_id,
        labels.dimension,
        labels.dimension_value,
        scores.metric,
        scores.task_seed,
        scores.stratum_seed,
        scores.score
    from scores
    inner join labels
        on scores.dataset = labels.dataset
        and scores.edition = labels.edition
        and scores.task_id = labels.task_id
    where not contains(scores.metric, ':')  -- the primary level only
),

whole_pairs as (
    select * from slices
    where dimension is null
),

pair_slices as (
    select * from slices
    where dimension is not null
),

series as (
    select * from of_runs
    union all
    select * from of_breakouts
    union all
    {{ paired_series('whole_pairs', 'pair') }}
    union all
    {{ paired_series('pair_slices', 'pair_breakout') }}
)

select
    {{ stat_series_id() }} as series_id,
    *
from series
