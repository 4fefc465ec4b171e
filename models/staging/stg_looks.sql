-- Grain: one row per changed run that used tasks from the test tail.

select
    dataset,
    edition,
    split,
    run_id,
    arm_hash,
    looked_at,
    who,
    why,
    confirmatory,
    batch,
    family
from {{ source('lake', 'looks') }}
