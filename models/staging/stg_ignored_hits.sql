-- Grain: one row per run and task whose list holds hits that the dataset ignores: those on the
-- document that has the task's own id, which is the query itself. `ranks` are the system's.

{{ config(materialized='table') }}

with hits as (
    select * from {{ source('lake', 'hits') }}
),

attempts as (
    select * from {{ ref('stg_attempts') }}
),

datasets as (
    select * from {{ ref('stg_datasets') }}
    where ignore_identical_ids
),

-- None in most builds, and then no hit is read.
lists as (
    select
        attempts.run_id,
        attempts.task_id,
        attempts.attempt
    from attempts
    inner join datasets
        on attempts.dataset = datasets.dataset
        and attempts.edition = datasets.edition
)

select
    hits.run_id,
    hits.task_id,
    hits.attempt,
    list(hits.rank order by hits.rank) as ranks
from hits
inner join lists
    on hits.run_id = lists.run_id
    and hits.task_id = lists.task_id
    and hits.attempt = lists.attempt
where hits.doc_id = hits.task_id
group by hits.run_id, hits.task_id, hits.attempt
