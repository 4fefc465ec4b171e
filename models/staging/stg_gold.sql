-- Grain: one row per dataset, edition, task, level and gold item.
-- `is_relevant` is what R counts. Touched and admissible items are judged: a hit on one is no
-- proof of an error, and it earns nothing.

with gold as (
    select * from {{ source('lake', 'gold') }}
)

select
    dataset,
    edition,
    task_id,
    gold_id,
    level,
    grade,
    role,
    truth_method,
    evidence,
    grade >= 1 and role in {{ words('relevant_roles') }} as is_relevant
from gold
