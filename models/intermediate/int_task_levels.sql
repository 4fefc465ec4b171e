-- Grain: one row per dataset, edition, task and level that the dataset has gold at.
-- R comes from the dataset alone, whatever any system holds or returns.

with tasks as (
    select * from {{ ref('stg_tasks') }}
),

datasets as (
    select * from {{ ref('stg_datasets') }}
),

gold as (
    select * from {{ ref('stg_gold') }}
),

levels as (
    select distinct
        dataset,
        edition,
        level
    from gold
    union
    select
        dataset,
        edition,
        primary_level
    from datasets
),

relevant as (
    select
        dataset,
        edition,
        task_id,
        level,
        count(*) as n_relevant
    from gold
    where is_relevant
    group by dataset, edition, task_id, level
)

select
    tasks.dataset,
    tasks.edition,
    tasks.task_id,
    tasks.library,
    levels.level,
    levels.level = datasets.primary_level as is_primary,
    coalesce(relevant.n_relevant, 0) as n_relevant
from tasks
inner join levels
    on tasks.dataset = levels.dataset
    and tasks.edition = levels.edition
inner join datasets
    on tasks.dataset = datasets.dataset
    and tasks.edition = datasets.edition
left join relevant
    on tasks.dataset = relevant.dataset
    and tasks.edition = relevant.edition
    and tasks.task_id = relevant.task_id
    and levels.level = relevant.level
