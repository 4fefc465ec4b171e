-- Grain: one row per changed run and metric: what a random order of the corpus's files scores.
-- Exact expectations, so that chance needs no run and has no noise. NULL where the units are not
-- files, or the size of the corpus is unknown.

with task_metrics as (
    select * from {{ ref('fct_task_metrics') }}
    where
        value is not null
        and level = 'file'
        and run_id in (select run_id from {{ source('build', 'changed_runs') }})
),

runs as (
    select * from {{ ref('stg_runs') }}
),

tasks as (
    select * from {{ ref('dim_tasks') }}
),

gold as (
    select
        dataset,
        edition,
        task_id,
        count(*) as n_relevant,
        sum(grade) as total_grade
    from {{ ref('stg_gold') }}
    where is_relevant and level = 'file'
    group by dataset, edition, task_id
),

ideal as (
    select * from {{ ref('int_ideal_dcg') }}
),

corpora as (
    select
        dataset,
        corpus_id,
        max(n_files) as n_files
    from {{ ref('stg_corpora') }}
    group by dataset, corpus_id
),

asked as (
    select
        task_metrics.run_id,
        task_metrics.metric,
        task_metrics.measure,
        task_metrics.cutoff,
        corpora.n_files,
        least(coalesce(task_metrics.cutoff, runs.depth), corpora.n_files) as n_drawn,
        least(gold.n_relevant, corpora.n_files) as n_relevant,
        gold.total_grade,
        ideal.ideal_dcg
    from task_metrics
    inner join runs on task_metrics.run_id = runs.run_id
    inner join tasks
        on runs.dataset = tasks.dataset
        and runs.edition = tasks.edition
        and task_metrics.task_id = tasks.task_id
    inner join gold
        on runs.dataset = gold.dataset
        and runs.edition = gold.edition
        and task_metrics.task_id = gold.task_id
    inner join corpora
        on tasks.dataset = corpora.dataset
        and tasks.corpus_id = corpora.corpus_id
    left join ideal
        on runs.dataset = ideal.dataset
        and runs.edition = ideal.edition
        and task_metrics.task_id = ideal.task_id
        and task_metrics.level = ideal.level
        and split_part(task_metrics.metric, ':', 1) = ideal.metric
    where corpora.n_files > 0
),

distinct_tasks as (
    select
        *,
        count(*) as n_tasks
    from asked
    group by all
),

expected as (
    select
        run_id,
        metric,
        n_tasks,
        {{ measure_sql('chance') }} as chance
    from distinct_tasks
)

select
    run_id,
    metric,
    -- Whole numbers, so that the sum has the same bits in any order.
    cast(sum(cast(round(chance * 1e15) as hugeint) * n_tasks) as double)
    / 1e15
    / sum(n_tasks) as chance
from expected
where chance is not null
group by run_id, metric
