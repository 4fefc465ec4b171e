-- Grain: one row per dataset, edition, task and level that the dataset has gold at.
-- R comes from the dataset alone, whatever any system holds or returns. Every gold item has a qrel:
-- where one stands without the other, a file of theirs is torn or gone, and no list can be scored.

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

all_qrels as (
    select * from {{ ref('stg_stated_qrels') }}
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
),

without_qrels as (
    select distinct
        gold.dataset,
        gold.edition,
        gold.task_id,
        gold.level
    from gold
    anti join qrels
        on gold.dataset = qrels.dataset
        and gold.edition = qrels.edition
        and gold.task_id = qrels.task_id
        and gold.gold_id = qrels.gold_id
    where gold.is_relevant
),

without_gold as (
    select distinct
        all_qrels.dataset,
        all_qrels.edition,
        all_qrels.task_id
    from all_qrels
    anti join gold
        on all_qrels.dataset = gold.dataset
        and all_qrels.edition = gold.edition
        and all_qrels.task_id = gold.task_id
        and all_qrels.gold_id = gold.gold_id
)

select
    tasks.dataset,
    tasks.edition,
    tasks.task_id,
    tasks.library,
    levels.level,
    levels.level = datasets.primary_level as is_primary,
    coalesce(relevant.n_relevant, 0) as n_relevant,
    coalesce(by_text.n_by_text, 0) as n_by_text,
    without_qrels.task_id is not null or without_gold.task_id is not null as is_gold_lost
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
left join without_qrels
    on tasks.dataset = without_qrels.dataset
    and tasks.edition = without_qrels.edition
    and tasks.task_id = without_qrels.task_id
    and levels.level = without_qrels.level
left join without_gold
    on tasks.dataset = without_gold.dataset
    and tasks.edition = without_gold.edition
    and tasks.task_id = without_gold.task_id
