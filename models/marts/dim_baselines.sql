-- Grain: one row per frozen baseline.

select
    baseline_run_id,
    run_id,
    file,
    sha256,
    arm_hash,
    arm_label,
    system,
    system_version,
    dataset,
    edition,
    split,
    primary_metric,
    depth,
    n_tasks,
    status,
    suspect_reason,
    started_at,
    relevance_rules,
    evalake_version
from {{ source('build', 'frozen_baselines') }}
