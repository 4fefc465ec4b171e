-- Grain: one row per run. A run that was resumed has several events; the last one of a kind counts.
-- `edition` is the one that judges the run: the latest of those whose questions it answered.

with events as (
    select * from {{ source('lake', 'runs') }}
),

started as (
    select *
    from events
    where event = 'started'
    qualify row_number() over (partition by run_id order by arrival_id nulls first, events.at) = 1
),

judgements as (
    select * from {{ source('build', 'judgements') }}
),

finished as (
    select
        run_id,
        events.at,
        status,
        device,
        network_blocked,
        network_block
    from events
    where event = 'finished'
    qualify row_number() over (
        partition by run_id order by arrival_id desc nulls last, events.at desc
    ) = 1
)

select
    started.run_id,
    started.dataset,
    judgements.edition,
    started.edition as asked_edition,
    started.split,
    started.arm_hash,
    started.arm_label,
    started.system,
    started.system_version,
    started.adapter_version,
    started.query_variant,
    started.output,
    started.depth,
    started.seed,
    started.repeat,
    judgements.n_tasks,
    started.jobs,
    started.sweep_id,
    started.family,
    coalesce(started.role, {{ words('default_role') }}) as role,
    started.primary_metric,
    coalesce(finished.status, 'unfinished') as status,
    started.at as started_at,
    finished.at as finished_at,
    coalesce(finished.device, started.device) as device,
    coalesce(finished.network_blocked, started.network_blocked) as network_blocked,
    finished.network_block,
    started.git_sha,
    started.git_dirty,
    started.command,
    started.provenance,
    started.config_json,
    started.config_files_json,
    started.packages_json,
    started.host_json,
    started.branches_json,
    started.evalake_version
from started
inner join judgements on started.run_id = judgements.run_id
left join finished on started.run_id = finished.run_id
