-- Grain: one row per dataset, edition and task.

select * from {{ source('lake', 'tasks') }}
