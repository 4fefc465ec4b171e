{#-
    Grain of the query: one row per pair of runs, metric and task that both were scored on.
    A task that either run failed, or was not asked, tells nothing about the difference.

    Relations: `pairs` (dataset, edition, baseline_run_id, candidate_run_id), `baseline_metrics` and
    `candidate_metrics` (columns of fct_task_metrics), `tasks` (dim_tasks).
-#}
{% macro paired_values(pairs, baseline_metrics, candidate_metrics, tasks) -%}
    select
        pairs.dataset,
        pairs.edition,
        pairs.baseline_run_id,
        pairs.candidate_run_id,
        baseline.metric,
        baseline.task_id,
        tasks.task_seed,
        {{ stat_stratum_seed('tasks.stratum') }} as stratum_seed,
        baseline.value as baseline_value,
        candidate.value as candidate_value,
        candidate.value - baseline.value as difference
    from (
        select distinct dataset, edition, baseline_run_id, candidate_run_id
        from {{ pairs }}
    ) as pairs
    inner join {{ baseline_metrics }} as baseline
        on pairs.baseline_run_id = baseline.run_id
    inner join {{ candidate_metrics }} as candidate
        on pairs.candidate_run_id = candidate.run_id
        and baseline.task_id = candidate.task_id
        and baseline.metric = candidate.metric
    inner join {{ tasks }} as tasks
        on pairs.dataset = tasks.dataset
        and pairs.edition = tasks.edition
        and baseline.task_id = tasks.task_id
    where
        baseline.value is not null
        and candidate.value is not null
{%- endmacro %}
