-- Grain: one row per dataset, edition, task, gold item and way to recognise it.

with qrels as (
    select * from {{ source('lake', 'qrels') }}
),

gold as (
    select * from {{ ref('stg_gold') }}
)

select
    qrels.dataset,
    qrels.edition,
    qrels.task_id,
    qrels.gold_id,
    qrels.relation,
    qrels.key,
    qrels.path,
    qrels.start_line,
    qrels.end_line,
    gold.level,
    gold.grade,
    gold.is_relevant
from qrels
inner join gold
    on qrels.dataset = gold.dataset
    and qrels.edition = gold.edition
    and qrels.task_id = gold.task_id
    and qrels.gold_id = gold.gold_id
