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

qrels as (
    select * from {{ ref('stg_qrels') }}
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
),

-- A text of many pieces has no path, name or id, and is no single definition to fingerprint.
by_text as (
    select
        dataset,
        edition,
        task_id,
        level,
        count(distinct gold_id) as n_by_text
    from qrels
    where is_relevant and relation = 'text'
    group by dataset, edition, task_id, level
)

select
    tasks.dataset,
    tasks.edition,
    tasks.task_id,
    tasks.library,
    levels.level,
    levels.level = datasets.primary_level as is_primary,
    coalesce(relevant.n_relevant, 0) as n_relevant,
    coalesce(by_text.n_by_text, 0) as n_by_text
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
left join by_text
    on tasks.dataset = by_text.dataset
    and tasks.edition = by_text.edition
    and tasks.task_id = by_text.task_id
    and levels.level = by_text.level
