-- Grain: one row per list and metric whose cutoff some credited (or, for judged@k, judged) unit is
-- within: the sums that its formula needs. Lists that found nothing have no row.

with lists as (
    select * from {{ ref('int_lists') }}
),

definitions as (
    select * from {{ ref('int_run_definitions') }}
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

of_credits as (
    select
        credits.list_id,
        definitions.metric,
        count(*) as n_units,
        min(credits.unit_rank) as first_rank,
        sum(credits.nth / credits.unit_rank) as sum_precision
    from credits
    inner join definitions
        on credits.run_id = definitions.run_id
        and (definitions.cutoff is null or credits.unit_rank <= definitions.cutoff)
    where definitions.measure not in ('judged', 'ndcg')
    group by credits.list_id, definitions.metric
),

of_gains as (
    select
        credits.list_id,
        ideal.metric,
        {{ dcg('credits.unit_rank', 'credits.grade') }} / any_value(ideal.ideal_dcg) as ndcg
    from credits
    inner join ideal
        on credits.dataset = ideal.dataset
        and credits.edition = ideal.edition
        and credits.task_id = ideal.task_id
        and credits.level = ideal.level
    inner join definitions
        on credits.run_id = definitions.run_id
        and ideal.metric = definitions.metric
    where ideal.cutoff is null or credits.unit_rank <= ideal.cutoff
    group by credits.list_id, ideal.metric
),

of_judged as (
    select
        judged_units.list_id,
        definitions.metric,
        count(*) as n_units
    from judged_units
    inner join definitions
        on judged_units.run_id = definitions.run_id
        and judged_units.unit_rank <= definitions.cutoff
    where definitions.measure = 'judged'
    group by judged_units.list_id, definitions.metric
)

select
    list_id,
    metric,
    n_units,
    first_rank,
    sum_precision,
    cast(null as double) as ndcg
from of_credits
union all
select
    list_id,
    metric,
    null as n_units,
    null as first_rank,
    null as sum_precision,
    ndcg
from of_gains
union all
select
    list_id,
    metric,
    n_units,
    null as first_rank,
    null as sum_precision,
    null as ndcg
from of_judged
