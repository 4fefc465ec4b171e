{#-
    Grain of the query: one row per family's pair, slice and metric: the measures with p adjusted over
    the family's candidates, and the verdict.

    `fct_paired_tests`, `fct_paired_breakouts`, `evalake compare` and `evalake gate` all render it.
    Whole runs are adjusted by Holm over candidates; slices by Benjamini and Hochberg over
    candidates and values of a label, since nobody declared them beforehand. Comparisons with one
    baseline are adjusted together, and apart from those with another: a family's declared baseline
    and a frozen one answer two questions.

    Relations:
        pairs: family, dataset, edition, split, primary_metric, baseline_run_id, candidate_run_id,
            baseline_kind, baseline_file, baseline_sha256, and adjusted_with, which is equal for
            candidates that p is adjusted over.
        measures: rows of `paired_measures`.
-#}
{% macro paired_tests(pairs, measures) -%}
    {%- set place = 'family, dataset, edition, split' -%}
    {%- set compared = place ~ ', baseline_run_id, adjusted_with, metric, dimension' -%}
    with measured as (
        select
            pairs.family,
            pairs.dataset,
            pairs.edition,
            pairs.split,
            pairs.primary_metric,
            pairs.baseline_kind,
            pairs.baseline_file,
            pairs.baseline_sha256,
            pairs.adjusted_with,
            measures.*
        from {{ pairs }} as pairs
        inner join {{ measures }} as measures
            on pairs.baseline_run_id = measures.baseline_run_id
            and pairs.candidate_run_id = measures.candidate_run_id
    ),

    ranked as (
        select
            *,
            metric = primary_metric as is_primary,
            count(p_value) over (partition by {{ compared }}) as n_tests,
            row_number() over (
                partition by {{ compared }}
                order by p_value nulls last, candidate_run_id, dimension_value
            ) as p_rank
        from measured
    ),

    adjusted as (
        select
            *,
            {{ stat_holm('p_value', compared, 'p_rank', 'n_tests') }} as p_holm,
            {{ stat_benjamini_hochberg('p_value', compared, 'p_rank', 'n_tests') }} as p_bh
        from ranked
    )

    select
        * exclude (primary_metric, adjusted_with, p_rank),
        {{ stat_verdict(
            'n_pairs',
            'if(dimension is null, p_holm, p_bh)',
            'mean_diff',
            [('diff_low', 'diff_high'), ('adjusted_low', 'adjusted_high')],
            var('confidence'), var('margin'), var('min_pairs'),
        ) }} as verdict
    from adjusted
{%- endmacro %}
