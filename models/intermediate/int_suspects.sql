-- Grain: one row per run or frozen baseline that no verdict may be given on.

select
    run_id,
    suspect_reason
from {{ ref('fct_run_completeness') }}
where suspect
union all
select
    baseline_run_id as run_id,
    suspect_reason
from {{ source('build', 'frozen_baselines') }}
where suspect_reason is not null
