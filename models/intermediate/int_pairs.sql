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
),

measured as (
    {{ measured_pairs() }}
),

changed_runs as (
    select run_id from {{ source('build', 'changed_runs') }}
)

-- Controls say what the scale is; counting them as candidates would only cost power.
select
    baselines.family,
    baselines.dataset,
    baselines.edition,
    baselines.split,
    baselines.primary_metric,
    baselines.run_id as baseline_run_id,
    candidates.run_id as candidate_run_id,
    measured.baseline_run_id is null
    or baselines.run_id in (select run_id from changed_runs)
    or candidates.run_id in (select run_id from changed_runs) as is_changed
from baselines
inner join latest as candidates
    on baselines.family = candidates.family
    and baselines.dataset = candidates.dataset
    and baselines.edition = candidates.edition
    and baselines.split = candidates.split
left join measured
    on baselines.run_id = measured.baseline_run_id
    and candidates.run_id = measured.candidate_run_id
where candidates.role not in ('baseline', 'control')
