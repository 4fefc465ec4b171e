-- Grain: one row per run and family: the family it was started in, and those it joined since.

with events as (
    select * from {{ source('lake', 'runs') }}
),

memberships as (
    select
        run_id,
        family,
        sweep_id,
        coalesce(role, {{ words('default_role') }}) as role,
        primary_metric,
        events.at as joined_at,
        arrival_id
    from events
    where event in ('started', 'joined') and family is not null
)

select *
from memberships
qualify row_number() over (
    partition by run_id, family order by arrival_id nulls first, joined_at
) = 1
