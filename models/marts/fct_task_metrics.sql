-- Grain: one row per run, task and metric.
-- It starts from attempts, not from hits: an attempt that found nothing scores 0, and one that
-- failed, was asked for too few hits or has no gold is NULL with a reason.

{{ config(materialized='incremental', incremental_strategy='replace_runs') }}

with lists as (
    select * from {{ ref('int_task_lists') }}
),

definitions as (
    select * from {{ ref('metric_definitions') }}
),

ideal as (
    select * from {{ ref('int_ideal_dcg') }}
),

aliases as (
    select * from {{ ref('library_aliases') }}
),

asked as (
    select
        lists.*,
        definitions.metric,
        definitions.measure,
        definitions.cutoff,
        ideal.ideal_dcg,
        coalesce(aliases.library, lists.resolved_library) as answered_library,
        case
            when lists.status in ('error', 'timeout', 'not_attempted') then lists.status
            when definitions.measure = 'library_resolution' then
                case
                    when lists.library is null or lists.resolved_library is null
                        then 'not_applicable'
                end
            when lists.n_relevant = 0 then 'no_gold'
            when definitions.cutoff > lists.depth then 'beyond_depth'
            when definitions.measure = 'needle' and lists.n_relevant > 1 then 'not_applicable'
        end as null_reason
    from lists
    cross join definitions
    left join ideal
        on lists.dataset = ideal.dataset
        and lists.edition = ideal.edition
        and lists.task_id = ideal.task_id
        and lists.level = ideal.level
        and definitions.cutoff is not distinct from ideal.cutoff
        and definitions.measure = 'ndcg'
    left join aliases on lists.resolved_library = aliases.alias
    where
        lists.is_primary
        or definitions.measure not in ('library_resolution', 'needle', 'coverage', 'judged')
),

scored as (
    select
        *,
        case
            when null_reason is not null then null
            when measure = 'recall'
                then len({{ credits_within('credit_ranks', 'cutoff') }}) / n_relevant
            when measure = 'success'
                then cast(len({{ credits_within('credit_ranks', 'cutoff') }}) > 0 as integer)
            when measure = 'precision'
                then len({{ credits_within('credit_ranks', 'cutoff') }}) / cutoff
            when measure = 'ndcg'
                then {{ dcg('credit_ranks', 'credit_grades', 'cutoff') }} / ideal_dcg
            when measure = 'rr'
                then coalesce(1 / {{ credits_within('credit_ranks', 'cutoff') }}[1], 0)
            when measure = 'ap'
                then {{ average_precision('credit_ranks', 'n_relevant') }}
            when measure = 'judged'
                then coalesce(
                    len({{ credits_within('judged_ranks', 'cutoff') }})
                    / nullif(least(cutoff, n_units), 0), 0
                )
            when measure = 'coverage'
                then cast(coalesce(covered, len(credit_ranks) > 0) as integer)
            when measure = 'library_resolution'
                then cast(answered_library = library as integer)
            when measure = 'needle'
                then cast(list_contains(credit_ranks, 1) as integer)
        end as value
    from asked
)

select
    run_id,
    task_id,
    metric || case when is_primary then '' else ':' || level end as metric,
    measure,
    cast(cutoff as bigint) as cutoff,
    level,
    cast(value as double) as value,
    null_reason,
    -- The list was full and still ran out of distinct files before the cutoff: a system asked for
    -- more hits might have done better.
    value is not null and cutoff > n_units and n_hits >= depth as truncated
from scored
