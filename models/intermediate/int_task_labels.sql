-- Grain: one row per dataset, edition, task and label: what a run can be broken out by.
-- A label with over 100 values is an identifier, not a slice, and is left out; so are strata that
-- only repeat another label of the dataset.

with tasks as (
    select * from {{ ref('dim_tasks') }}
),

named as (
    select
        dataset,
        edition,
        task_id,
        unnest(['kind', 'repo', 'library', 'qa_type', 'qa_subtype', 'stratum']) as dimension,
        unnest([kind, repo, library, qa_type, qa_subtype, stratum]) as dimension_value
    from tasks
),

other as (
    select
        dataset,
        edition,
        task_id,
        -- A map, not paths: a key may hold whatever means something in a path language. What is no
        -- JSON object has no labels, and is no reason to judge nothing.
        unnest(
            map_entries(try_cast(try_cast(labels_json as json) as map (varchar, varchar)))
        ) as entry
    from tasks
),

labels as (
    select * from named
    union
    select
        dataset,
        edition,
        task_id,
        entry.key as dimension,
        entry.value as dimension_value
    from other
    where entry.key not in ('kind', 'repo', 'library', 'qa_type', 'qa_subtype', 'stratum')
),

repeated_strata as (
    select
        dataset,
        edition,
        'stratum' as dimension
    from tasks
    group by dataset, edition
    having
        bool_and(stratum is not distinct from kind)
        or bool_and(stratum is not distinct from repo)
        or bool_and(stratum is not distinct from library)
        or bool_and(stratum is not distinct from qa_type)
        or bool_and(stratum is not distinct from qa_subtype)
),

counted as (
    select
        dataset,
        edition,
        dimension
    from labels
    group by dataset, edition, dimension
    having count(distinct dimension_value) <= 100
)

select labels.*
from labels
inner join counted
    on labels.dataset = counted.dataset
    and labels.edition = counted.edition
    and labels.dimension = counted.dimension
anti join repeated_strata
    on labels.dataset = repeated_strata.dataset
    and labels.edition = repeated_strata.edition
    and labels.dimension = repeated_strata.dimension
where labels.dimension_value is not null
