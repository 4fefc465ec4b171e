-- Grain: one row per dataset, edition, task, level and cutoff of an nDCG definition.

with task_levels as (
    select * from {{ ref('int_task_levels') }}
),

cutoffs as (
    select distinct cutoff
    from {{ ref('metric_definitions') }}
    where measure = 'ndcg'
)

select
    task_levels.dataset,
    task_levels.edition,
    task_levels.task_id,
    task_levels.level,
    cutoffs.cutoff,
    {{ dcg('range(1, len(task_levels.ideal_grades) + 1)', 'task_levels.ideal_grades', 'cutoffs.cutoff') }}
        as ideal_dcg
from task_levels
cross join cutoffs
where task_levels.n_relevant > 0
