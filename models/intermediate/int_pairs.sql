-- Grain: one row per family, dataset, edition, split and candidate run, for changed families.
-- The last run of every arm (per seed and repeat) against the last baseline run.

with runs as (
    select * from {{ ref('dim_runs') }}
    where family in (select family from {{ source('build', 'changed_families') }})
),

latest as (
    select *
    from runs
    qualify row_number() over (
        partition by family, dataset, edition, split, arm_hash, seed, repeat, role = 'baseline'
        order by started_at desc, run_id desc
    ) = 1
),

baselines as (
    select *
    from latest
    where role = 'baseline'
    qualify row_number() over (
        partition by family, dataset, edition, split
        order by started_at desc, run_id desc
    ) = 1
)

-- Controls say what the scale is; counting them as candidates would only cost power.
select
    baselines.family,
    baselines.dataset,
    baselines.edition,
    baselines.split,
    baselines.primary_metric,
    baselines.run_id as baseline_run_id,
    candidates.run_id as candidate_run_id
from baselines
inner join latest as candidates
    on baselines.family = candidates.family
    and baselines.dataset = candidates.dataset
    and baselines.edition = candidates.edition
    and baselines.split = candidates.split
where candidates.role not in ('baseline', 'control')
