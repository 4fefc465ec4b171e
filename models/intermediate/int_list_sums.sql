-- Grain: one row per list and metric within whose reach some credited (or, for judged@k, judged)
-- unit is: the total that its score is made of. Lists that found nothing have no row.

with lists as (
    select * from {{ ref('int_lists') }}
),

definitions as (
    select
        *,
        {{ measure_sql('units') }} as units
    from {{ ref('int_run_definitions') }}
),

ideal as (
    select * from {{ ref('int_ideal_dcg') }}
),

credits as (
    select
        lists.list_id,
        lists.run_id,
        lists.dataset,
        lists.edition,
        lists.task_id,
        lists.level,
        lists.n_relevant,
        credits.unit_rank,
        credits.grade,
        row_number() over (partition by lists.list_id order by credits.unit_rank) as nth
    from {{ ref('int_credits') }} as credits
    inner join lists
        on credits.run_id = lists.run_id
        and credits.task_id = lists.task_id
        and credits.level = lists.level
),

judged_units as (
    select distinct
        lists.list_id,
        lists.run_id,
        if(matches.level = 'file', file_units.unit_rank, matches.rank) as unit_rank
    from {{ ref('int_hit_matches') }} as matches
    inner join lists
        on matches.run_id = lists.run_id
        and matches.task_id = lists.task_id
        and matches.level = lists.level
    left join {{ ref('int_file_units') }} as file_units
        on matches.run_id = file_units.run_id
        and matches.task_id = file_units.task_id
        and matches.rank = file_units.rank
),

counted as (
    select
        credits.list_id,
        definitions.metric,
        definitions.measure,
        credits.unit_rank,
        credits.nth,
        cast(null as bigint) as grade,
        cast(null as double) as ideal_dcg
    from credits
    inner join definitions
        on credits.run_id = definitions.run_id
        and credits.unit_rank <= coalesce({{ measure_sql('reach') }}, credits.unit_rank)
    where definitions.units = 'credits'
    union all
    select
        credits.list_id,
        definitions.metric,
        definitions.measure,
        credits.unit_rank,
        credits.nth,
        credits.grade,
        ideal.ideal_dcg
    from credits
    inner join ideal
        on credits.dataset = ideal.dataset
        and credits.edition = ideal.edition
        and credits.task_id = ideal.task_id
        and credits.level = ideal.level
    inner join definitions
        on credits.run_id = definitions.run_id
        and ideal.metric = definitions.metric
    where
        definitions.units = 'gains'
        and (ideal.cutoff is null or credits.unit_rank <= ideal.cutoff)
    union all
    select
        judged_units.list_id,
        definitions.metric,
        definitions.measure,
        judged_units.unit_rank,
        null as nth,
        null as grade,
        null as ideal_dcg
    from judged_units
    inner join definitions
        on judged_units.run_id = definitions.run_id
        and judged_units.unit_rank <= definitions.cutoff
    where definitions.units = 'judged'
)

select
    list_id,
    metric,
    cast({{ measure_sql('total') }} as double) as total
from counted
group by list_id, metric, measure
