-- Grain: one row per dataset and edition.

select * from {{ source('lake', 'datasets') }}
