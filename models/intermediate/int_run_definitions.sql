-- Grain: one row per changed run and metric that the run has scores of, or a reason for none:
-- every metric that is not deep, deep ones that the run's depth reaches, and the primary metrics of
-- its dataset and families, whose cutoff may be any.

with runs as (
    select * from {{ ref('stg_runs') }}
),

families as (
    select * from {{ ref('stg_run_families') }}
),

datasets as (
    select * from {{ ref('stg_datasets') }}
),

definitions as (
    select * from {{ ref('metric_definitions') }}
),

-- Measures that take any cutoff, by the name they have before the @.
measures as (
    select distinct
        split_part(metric, '@', 1) as name,
        measure
    from definitions
    where is_deep
),

primary_metrics as (
    select
        run_id,
        primary_metric
    from runs
    union
    select
        run_id,
        primary_metric
    from families
    union
    select
        runs.run_id,
        datasets.primary_metric
    from runs
    inner join datasets
        on runs.dataset = datasets.dataset
        and runs.edition = datasets.edition
),

-- `recall@5:symbol` is recall@5 at another level, and all levels have the same metrics.
named as (
    select
        run_id,
        split_part(primary_metric, ':', 1) as metric,
        split_part(metric, '@', 1) as name,
        regexp_extract(metric, '@([1-9][0-9]{0,8})$', 1) as cutoff
    from primary_metrics
),

defined as (
    select
        runs.run_id,
        definitions.metric,
        definitions.measure,
        definitions.cutoff
    from runs
    inner join definitions
        on not definitions.is_deep
        or runs.depth >= definitions.cutoff
),

asked as (
    select
        named.run_id,
        named.metric,
        measures.measure,
        try_cast(named.cutoff as bigint) as cutoff
    from named
    inner join measures on named.name = measures.name
    where named.cutoff != ''
)

select * from defined
union
select * from asked
