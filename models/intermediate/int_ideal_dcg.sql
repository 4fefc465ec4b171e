-- Grain: one row per dataset, edition, task, level and nDCG metric: the DCG of the ideal order,
-- which has all relevant gold, cut where the metric is. nDCG metrics are those of changed runs.

with gold as (
    select
        *,
        row_number() over (
            partition by dataset, edition, task_id, level order by grade desc
        ) as ideal_rank
    from {{ ref('stg_gold') }}
    where is_relevant
),

definitions as (
    select distinct
        metric,
        cutoff
    from {{ ref('int_run_definitions') }}
    where {{ measure_sql('units') }} = 'gains'
)

select
    gold.dataset,
    gold.edition,
    gold.task_id,
    gold.level,
    definitions.metric,
    definitions.cutoff,
    {{ dcg('gold.ideal_rank', 'gold.grade') }} as ideal_dcg
from gold
inner join definitions
    on definitions.cutoff is null
    or gold.ideal_rank <= definitions.cutoff
group by
    gold.dataset,
    gold.edition,
    gold.task_id,
    gold.level,
    definitions.metric,
    definitions.cutoff
