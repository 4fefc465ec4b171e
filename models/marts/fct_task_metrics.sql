-- Grain: one row per run, task and metric.
-- It starts from attempts, not from hits: an attempt that found nothing scores 0, and one that
-- failed, was asked for too few hits, has no gold or cannot be compared with it is NULL with a
-- reason.

{{ config(materialized='incremental') }}

with lists as (
    select
        lists.list_id,
        lists.run_id,
        lists.task_id,
        lists.level,
        lists.is_primary,
        lists.n_relevant,
        lists.n_by_text,
        lists.status,
        lists.depth,
        lists.output,
        lists.n_hits,
        lists.n_units,
        lists.is_lost,
        lists.is_unjudged,
        lists.covered,
        lists.library,
        lists.resolved_library,
        coalesce(aliases.library, lists.resolved_library) as answered_library
    from {{ ref('int_lists') }} as lists
    left join {{ ref('library_aliases') }} as aliases on lists.resolved_library = aliases.alias
),

definitions as (
    select
        *,
        {{ measure_sql('primary_only') }} as primary_only,
        {{ measure_sql('one_gold') }} as one_gold,
        {{ measure_sql('from_signal') }} as from_signal,
        {{ measure_sql('needs_library') }} as needs_library
    from {{ ref('int_run_definitions') }}
),

sums as (
    select * from {{ ref('int_list_sums') }}
),

measured as (
    select
        lists.*,
        definitions.* exclude (run_id),
        {{ measure_sql('reach') }} as reach
    from lists
    inner join definitions on lists.run_id = definitions.run_id
    where lists.is_primary or not definitions.primary_only
),

asked as (
    select
        *,
        case
            when is_lost then 'evidence_lost'
            when status in {{ words('unanswered') }} then status
            when
                needs_library
                and (library is null or resolved_library is null)
                then 'not_applicable'
            when needs_library then null
            when
                is_unjudged
                and not (from_signal and covered is not null)
                then 'evidence_lost'
            when n_relevant = 0 then 'no_gold'
            -- Nothing that such an answer holds could be recognised as any gold of the task.
            when
                output in {{ words('one_text') }}
                and n_by_text = 0
                and not (from_signal and covered is not null)
                then 'no_comparable_output'
            when reach > depth then 'beyond_depth'
            when one_gold and n_relevant > 1 then 'not_applicable'
        end as null_reason
    from measured
),

summed as (
    select
        asked.*,
        sums.total
    from asked
    left join sums
        on asked.list_id = sums.list_id
        and asked.metric = sums.metric
),

scored as (
    select
        *,
        {{ measure_sql('score') }} as value
    from summed
)

select
    run_id,
    task_id,
    if(is_primary, metric, metric || ':' || level) as metric,
    measure,
    cast(cutoff as bigint) as cutoff,
    level,
    if(null_reason is null, cast(value as double), null) as value,
    null_reason,
    -- The list was full and still ran out of distinct files before the measure's reach: a system
    -- asked for more hits might have done better.
    null_reason is null and reach > n_units and n_hits >= depth as truncated
from scored
