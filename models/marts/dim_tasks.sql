-- Grain: one row per dataset, edition and task.

with tasks as (
    select * from {{ ref('stg_tasks') }}
),

task_levels as (
    select * from {{ ref('int_task_levels') }}
    where is_primary
)

select
    tasks.dataset,
    tasks.edition,
    tasks.task_id,
    tasks.task_seed,
    tasks.kind,
    tasks.query,
    tasks.query_variants_json,
    tasks.repo,
    tasks.library,
    tasks.qa_type,
    tasks.qa_subtype,
    tasks.stratum,
    tasks.labels_json,
    tasks.corpus_id,
    task_levels.n_relevant
from tasks
inner join task_levels
    on tasks.dataset = task_levels.dataset
    and tasks.edition = task_levels.edition
    and tasks.task_id = task_levels.task_id
