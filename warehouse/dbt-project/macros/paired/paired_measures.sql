{#-
    Grain of the query: one row per pair, slice and metric: counts, differences, intervals and tests
    of that pair alone. `dimension` is NULL for whole runs.

    Every pair has a row for every metric of either run, also where nothing can be compared
    (`n_pairs` = 0).

    Relations:
        pairs: baseline_run_id, candidate_run_id, once per pair.
        differences: `paired_values` with dimension and dimension_value.
        task_metrics: fct_task_metrics.
        intervals: int_intervals.
        definitions: metric_definitions.
-#}
{% macro paired_measures(pairs, differences, task_metrics, intervals, definitions) -%}
    {%- set confidence = var('confidence') -%}
    {%- set z = '(' ~ stat_normal_quantile((1 + confidence | float) / 2) ~ ')' -%}
    with paired_runs as (
        select baseline_run_id as run_id from {{ pairs }}
        union
        select candidate_run_id from {{ pairs }}
    ),

    scored as (
        select
            task_metrics.run_id,
            task_metrics.metric,
            any_value(task_metrics.measure) as measure,
            any_value(task_metrics.level) as level,
            count(task_metrics.value) as n_scored,
            count(*) filter (where task_metrics.null_reason in {{ words('failed') }}) as n_failed
        from {{ task_metrics }} as task_metrics
        inner join paired_runs on task_metrics.run_id = paired_runs.run_id
        group by task_metrics.run_id, task_metrics.metric
    ),

    counted as (
        select
            baseline_run_id,
            candidate_run_id,
            dimension,
            dimension_value,
            metric,
            count(*) as n_pairs,
            count(*) filter (where {{ stat_millionths('difference') }} < 0) as only_baseline,
            count(*) filter (where {{ stat_millionths('difference') }} > 0) as only_candidate,
            {{ stat_exact_mean('baseline_value') }} as baseline_mean,
            {{ stat_exact_mean('candidate_value') }} as candidate_mean,
            {{ stat_exact_mean('difference') }} as mean_diff,
            cast(sum({{ stat_millionths('difference') }}) as double) as total,
            cast(sum({{ stat_millionths('difference') }} * {{ stat_millionths('difference') }}) as double)
                as squares
        from {{ differences }}
        group by baseline_run_id, candidate_run_id, dimension, dimension_value, metric
    ),

    -- Also metrics that only one of the two runs has, and pairs without a common task.
    asked as (
        select
            pairs.baseline_run_id,
            pairs.candidate_run_id,
            cast(null as varchar) as dimension,
            cast(null as varchar) as dimension_value,
            scored.metric
        from {{ pairs }} as pairs
        inner join scored on scored.run_id in (pairs.baseline_run_id, pairs.candidate_run_id)
        union
        select
            baseline_run_id,
            candidate_run_id,
            dimension,
            dimension_value,
            metric
        from counted
    ),

    described as (
        select
            metric,
            any_value(measure) as measure,
            any_value(level) as level
        from scored
        group by metric
    ),

    joined as (
        select
            asked.*,
            described.measure,
            described.level,
            coalesce(measures.is_binary, false) as is_binary,
            coalesce(counted.n_pairs, 0) as n_pairs,
            coalesce(baseline.n_scored, 0) as n_baseline_scored,
            coalesce(candidate.n_scored, 0) as n_candidate_scored,
            coalesce(baseline.n_failed, 0) as n_baseline_failed,
            coalesce(candidate.n_failed, 0) as n_candidate_failed,
            coalesce(counted.only_baseline, 0) as only_baseline,
            coalesce(counted.only_candidate, 0) as only_candidate,
            counted.baseline_mean,
            counted.candidate_mean,
            counted.mean_diff,
            sqrt(greatest(0, counted.n_pairs * counted.squares - counted.total ** 2)
            / nullif(counted.n_pairs * (counted.n_pairs - 1), 0)) / 1e6 as sd_diff,
            counted.total / 1e6 / (counted.n_pairs + 2) as adjusted_diff,
            sqrt(greatest(
                0,
                (counted.squares / 1e12 + 2) / (counted.n_pairs + 2)
                - (counted.total / 1e6 / (counted.n_pairs + 2)) ** 2
            ) / (counted.n_pairs + 2)) as adjusted_error,
            intervals.ci_low as diff_low,
            intervals.ci_high as diff_high,
            intervals.cluster_low as cluster_diff_low,
            intervals.cluster_high as cluster_diff_high,
            intervals.n_clusters,
            intervals.design_effect,
            intervals.sign_flip_p
        from asked
        inner join described on asked.metric = described.metric
        left join scored as baseline
            on asked.baseline_run_id = baseline.run_id and asked.metric = baseline.metric
        left join scored as candidate
            on asked.candidate_run_id = candidate.run_id and asked.metric = candidate.metric
        left join counted
            on asked.baseline_run_id = counted.baseline_run_id
            and asked.candidate_run_id = counted.candidate_run_id
            and asked.dimension is not distinct from counted.dimension
            and asked.dimension_value is not distinct from counted.dimension_value
            and asked.metric = counted.metric
        left join {{ intervals }} as intervals
            on intervals.kind = if(asked.dimension is null, 'pair', 'pair_breakout')
            and asked.baseline_run_id = intervals.baseline_run_id
            and asked.candidate_run_id = intervals.run_id
            and asked.dimension is not distinct from intervals.dimension
            and asked.dimension_value is not distinct from intervals.dimension_value
            and asked.metric = intervals.metric
        left join (select distinct measure, is_binary from {{ definitions }}) as measures
            on described.measure = measures.measure
    ),

    tested as (
        select
            *,
            case when is_binary and n_pairs > 0 then
                {{ stat_mcnemar('only_baseline', 'only_candidate', mid_p=false) }}
            end as mcnemar_p,
            case when is_binary and n_pairs > 0 then
                {{ stat_mcnemar('only_baseline', 'only_candidate', mid_p=true) }}
            end as mcnemar_midp
        from joined
    )

    select
        baseline_run_id,
        candidate_run_id,
        dimension,
        dimension_value,
        metric,
        measure,
        level,
        is_binary,
        n_pairs,
        n_baseline_scored,
        n_candidate_scored,
        n_baseline_failed,
        n_candidate_failed,
        baseline_mean,
        candidate_mean,
        only_baseline,
        only_candidate,
        mcnemar_p,
        mcnemar_midp,
        mean_diff,
        diff_low,
        diff_high,
        adjusted_diff - {{ z }} * adjusted_error as adjusted_low,
        adjusted_diff + {{ z }} * adjusted_error as adjusted_high,
        cluster_diff_low,
        cluster_diff_high,
        n_clusters,
        design_effect,
        {{ stat_interval_note('n_pairs', 'diff_low', 'diff_high') }} as interval_note,
        {{ stat_cluster_note('n_clusters') }} as cluster_note,
        sign_flip_p,
        case when is_binary then 'mcnemar_midp' else 'sign_flip' end as test,
        case when is_binary then mcnemar_midp else sign_flip_p end as p_value,
        {{ stat_minimum_detectable_effect('is_binary', '(only_baseline + only_candidate)', 'sd_diff', 'n_pairs', confidence) }}
            as mde
    from tested
{%- endmacro %}
