-- Grain: one row per family, dataset, edition, split and candidate run, for changed families.
-- One run of every arm (per seed and repeat) against one run of the baseline: the last of those
-- with the most tasks, so that a limited run does not stand for a whole one. A pair is due when it
-- was not measured since one of its runs changed, and this batch has its candidate.

with members as (
    select * from {{ ref('dim_run_families') }}
    where family in (select family from {{ source('build', 'changed_families') }})
),

runs as (
    select * from {{ ref('dim_runs') }}
),

representatives as (
    select
        members.family,
        members.role,
        members.primary_metric,
        runs.run_id,
        runs.dataset,
        runs.edition,
        runs.split,
        runs.n_tasks,
        runs.started_at
    from members
    inner join runs on members.run_id = runs.run_id
    qualify row_number() over (
        partition by
            members.family,
            runs.dataset,
            runs.edition,
            runs.split,
            runs.arm_hash,
            runs.seed,
            runs.repeat,
            members.role = 'baseline'
        order by runs.n_tasks desc, runs.started_at desc, runs.run_id desc
    ) = 1
),

baselines as (
    select *
    from representatives
    where role = 'baseline'
    qualify row_number() over (
        partition by family, dataset, edition, split
        order by n_tasks desc, started_at desc, run_id desc
    ) = 1
),

measured as (
    {{ measured_pairs() }}
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
    and candidates.run_id in (select run_id from {{ source('build', 'candidates') }}) as is_due
from baselines
inner join representatives as candidates
    on baselines.family = candidates.family
    and baselines.dataset = candidates.dataset
    and baselines.edition = candidates.edition
    and baselines.split = candidates.split
left join measured
    on baselines.run_id = measured.baseline_run_id
    and candidates.run_id = measured.candidate_run_id
where candidates.role not in ('baseline', 'control')
