-- Grain: one row per family, dataset, edition, split, baseline and candidate run, for changed
-- families. A pair is due when it was not measured since one of its sides changed, and this batch
-- has its candidate.

with changed_families as (
    select * from {{ source('build', 'changed_families') }}
),

all_members as (
    select * from {{ ref('dim_run_families') }}
),

runs as (
    select * from {{ ref('dim_runs') }}
),

datasets as (
    select * from {{ ref('stg_datasets') }}
),

frozen as (
    select * from {{ source('build', 'frozen_baselines') }}
),

-- Every arm (per seed and repeat) is represented by one run: the last of those with the most
-- tasks, so that a limited run does not stand for a whole one.
members as (
    select
        all_members.family,
        all_members.role,
        all_members.primary_metric,
        runs.run_id,
        runs.system,
        runs.dataset,
        runs.edition,
        runs.split,
        runs.n_tasks,
        row_number() over (
            partition by
                all_members.family,
                runs.dataset,
                runs.edition,
                runs.split,
                runs.arm_hash,
                runs.seed,
                runs.repeat,
                all_members.role = 'baseline'
            order by runs.n_tasks desc, runs.run_id desc
        ) = 1 as is_representative
    from all_members
    inner join runs on all_members.run_id = runs.run_id
    where all_members.family in (select family from changed_families)
),

baselines as (
    select *
    from members
    where role = 'baseline' and is_representative
    qualify row_number() over (
        partition by family, dataset, edition, split
        order by n_tasks desc, run_id desc
    ) = 1
),

-- Controls say what the scale is; counting them as candidates would only cost power.
of_families as (
    select
        baselines.family,
        baselines.dataset,
        baselines.edition,
        baselines.split,
        baselines.primary_metric,
        baselines.run_id as baseline_run_id,
        candidates.run_id as candidate_run_id,
        'run' as baseline_kind,
        cast(null as varchar) as baseline_file,
        cast(null as varchar) as baseline_sha256,
        baselines.family as adjusted_with
    from baselines
    inner join members as candidates
        on baselines.family = candidates.family
        and baselines.dataset = candidates.dataset
        and baselines.edition = candidates.edition
        and baselines.split = candidates.split
    where candidates.is_representative and candidates.role = 'candidate'
),

-- A frozen baseline meets every run there is, also one of no family: each was made to be held
-- against it.
contenders as (
    select
        family,
        role,
        primary_metric,
        run_id,
        system,
        dataset,
        edition,
        split,
        is_representative
    from members
    union all
    select
        run_id as family,
        role,
        primary_metric,
        run_id,
        system,
        dataset,
        edition,
        split,
        true as is_representative
    from runs
    where
        run_id in (select family from changed_families)
        and run_id not in (select run_id from all_members)
),

-- p is adjusted over the arms of a family. An older run of an arm, and the very run that was
-- frozen, are no further candidates: each is adjusted for itself alone.
with_frozen as (
    select
        contenders.family,
        contenders.dataset,
        contenders.edition,
        contenders.split,
        contenders.primary_metric,
        frozen.baseline_run_id,
        contenders.run_id as candidate_run_id,
        'frozen' as baseline_kind,
        frozen.file as baseline_file,
        frozen.sha256 as baseline_sha256,
        if(
            contenders.is_representative and contenders.run_id != frozen.run_id,
            contenders.family,
            contenders.run_id
        ) as adjusted_with
    from contenders
    inner join frozen
        on contenders.dataset = frozen.dataset
        and contenders.edition = frozen.edition
        and contenders.split = frozen.split
    where
        contenders.role is distinct from 'control'
        and contenders.system not in {{ words('control_systems') }}
),

of_both_kinds as (
    select * from of_families
    union all
    select * from with_frozen
),

-- A family that declares no primary metric is judged by its dataset's.
pairs as (
    select
        of_both_kinds.* replace (
            coalesce(of_both_kinds.primary_metric, datasets.primary_metric) as primary_metric
        )
    from of_both_kinds
    left join datasets
        on of_both_kinds.dataset = datasets.dataset
        and of_both_kinds.edition = datasets.edition
),

depths as (
    select
        run_id,
        depth
    from runs
    union all
    select
        baseline_run_id as run_id,
        depth
    from frozen
),

measured as (
    select * from {{ source('build', 'measured_pairs') }}
)

select
    pairs.*,
    of_baseline.depth as baseline_depth,
    of_candidate.depth as candidate_depth,
    measured.baseline_run_id is null
    and pairs.candidate_run_id in (select run_id from {{ source('build', 'candidates') }}) as is_due
from pairs
left join measured
    on pairs.baseline_run_id = measured.baseline_run_id
    and pairs.candidate_run_id = measured.candidate_run_id
left join depths as of_baseline on pairs.baseline_run_id = of_baseline.run_id
left join depths as of_candidate on pairs.candidate_run_id = of_candidate.run_id
