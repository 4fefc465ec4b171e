{#-
    Grain of the query: one row per pair, slice and metric: the test, interval and verdict.

    Written once: `fct_paired_tests`, `fct_paired_breakouts`, `evalake compare` and `evalake gate`
    all render it. Every pair has a row for every metric of either run, also where nothing can
    be compared (`n_pairs` = 0, verdict `insufficient`).

    Relations:
        pairs: family, dataset, edition, split, primary_metric, baseline_run_id, candidate_run_id.
        differences: `paired_values` with dimension and dimension_value.
        task_metrics: fct_task_metrics.
        intervals: int_intervals.
        definitions: metric_definitions.
    `kind` is the intervals' kind, `pair` or `pair_breakout`.
-#}
{% macro paired_tests(pairs, differences, task_metrics, intervals, definitions, kind) -%}
    {%- set confidence = var('confidence') -%}
    {%- set z = '(' ~ stat_normal_quantile((1 + confidence) / 2) ~ ')' -%}
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
            count(*) filter (where task_metrics.null_reason in ('error', 'timeout')) as n_failed
        from {{ task_metrics }} as task_metrics
        inner join paired_runs on task_metrics.run_id = paired_runs.run_id
        group by task_metrics.run_id, task_metrics.metric
    ),

    {% if kind == 'pair' %}
    asked as (
        select distinct
            pairs.*,
            cast(null as varchar) as dimension,
            cast(null as varchar) as dimension_value,
            scored.metric,
            scored.measure,
            scored.level
        from {{ pairs }} as pairs
        inner join scored on scored.run_id in (pairs.baseline_run_id, pairs.candidate_run_id)
    ),
    {% else %}
    asked as (
        select distinct
            pairs.*,
            slices.dimension,
            slices.dimension_value,
            scored.metric,
            scored.measure,
            scored.level
        from {{ pairs }} as pairs
        inner join scored on pairs.baseline_run_id = scored.run_id
        inner join {{ differences }} as slices
            on pairs.baseline_run_id = slices.baseline_run_id
            and pairs.candidate_run_id = slices.candidate_run_id
            and scored.metric = slices.metric
    ),
    {% endif %}

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

    joined as (
        select
            asked.*,
            coalesce(definitions.is_binary, false) as is_binary,
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
            on intervals.kind = '{{ kind }}'
            and asked.baseline_run_id = intervals.baseline_run_id
            and asked.candidate_run_id = intervals.run_id
            and asked.dimension is not distinct from intervals.dimension
            and asked.dimension_value is not distinct from intervals.dimension_value
            and asked.metric = intervals.metric
        left join {{ definitions }} as definitions
            on split_part(asked.metric, ':', 1) = definitions.metric
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
    ),

    chosen as (
        select
            *,
            metric = primary_metric as is_primary,
            case when is_binary then 'mcnemar_midp' else 'sign_flip' end as test,
            case when is_binary then mcnemar_midp else sign_flip_p end as p_value
        from tested
    ),

    ranked as (
        select
            *,
            count(p_value) over compared as n_tests,
            row_number() over (
                compared
                order by p_value nulls last, candidate_run_id, dimension_value
            ) as p_rank
        from chosen
        window compared as (
            partition by family, dataset, edition, split, baseline_run_id, metric, dimension
        )
    ),

    adjusted as (
        select
            *,
            {{ stat_holm('p_value', 'family, dataset, edition, split, baseline_run_id, metric, dimension', 'p_rank', 'n_tests') }}
                as p_holm,
            {{ stat_benjamini_hochberg('p_value', 'family, dataset, edition, split, baseline_run_id, metric, dimension', 'p_rank', 'n_tests') }}
                as p_bh
        from ranked
    )

    select
        family,
        dataset,
        edition,
        split,
        baseline_run_id,
        candidate_run_id,
        dimension,
        dimension_value,
        metric,
        measure,
        level,
        is_binary,
        is_primary,
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
        test,
        p_value,
        n_tests,
        p_holm,
        p_bh,
        {{ stat_minimum_detectable_effect('is_binary', '(only_baseline + only_candidate)', 'sd_diff', 'n_pairs', confidence) }}
            as mde,
        {{ stat_verdict(
            'n_pairs',
            'p_holm' if kind == 'pair' else 'p_bh',
            'mean_diff',
            [
                ('diff_low', 'diff_high'),
                ('adjusted_diff - ' ~ z ~ ' * adjusted_error', 'adjusted_diff + ' ~ z ~ ' * adjusted_error'),
            ],
            confidence, var('margin'), var('min_pairs'),
        ) }} as verdict
    from adjusted
{%- endmacro %}
