{#-
    Grain of the query: one row per family's pair, slice and metric: the measures with p adjusted over
    the family's candidates, and the verdict.

    `fct_paired_tests`, `fct_paired_breakouts`, `evalake compare` and `evalake gate` all render it.
    Whole runs are adjusted by Holm over candidates; slices by Benjamini and Hochberg over
    candidates and values of a label, since nobody declared them beforehand. Comparisons with one
    baseline are adjusted together, and apart from those with another: a family's declared baseline
    and a frozen one answer two questions.

    A pair with a suspect run is measured and not tested: `p_value` is NULL, so the family's other
    candidates are not adjusted for it, and the verdict is `suspect`. Where both runs returned the
    same list on every common task the verdict is `no_effect`.

    Relations:
        pairs: family, dataset, edition, split, primary_metric, baseline_run_id, candidate_run_id,
            baseline_kind, baseline_file, baseline_sha256, baseline_depth, candidate_depth, and
            adjusted_with, which is equal for candidates that p is adjusted over.
        measures: rows of `paired_measures`.
        lists: rows of `paired_lists`.
        suspects: run_id and suspect_reason of runs that allow no verdict.
-#}
{% macro paired_tests(pairs, measures, lists, suspects) -%}
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
            pairs.baseline_depth,
            pairs.candidate_depth,
            pairs.adjusted_with,
            measures.* exclude (p_value),
            of_baseline.suspect_reason as baseline_suspect,
            of_candidate.suspect_reason as candidate_suspect,
            lists.n_common_lists,
            lists.n_same_lists,
            if(
                of_baseline.suspect_reason is null and of_candidate.suspect_reason is null,
                measures.p_value,
                null
            ) as p_value
        from {{ pairs }} as pairs
        inner join {{ measures }} as measures
            on pairs.baseline_run_id = measures.baseline_run_id
            and pairs.candidate_run_id = measures.candidate_run_id
        left join {{ lists }} as lists
            on pairs.baseline_run_id = lists.baseline_run_id
            and pairs.candidate_run_id = lists.candidate_run_id
        left join {{ suspects }} as of_baseline on pairs.baseline_run_id = of_baseline.run_id
        left join {{ suspects }} as of_candidate on pairs.candidate_run_id = of_candidate.run_id
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
        case
            when coalesce(baseline_suspect, candidate_suspect) is not null then 'suspect'
            when n_pairs >= {{ var('min_pairs') }} and n_same_lists = n_common_lists
                then 'no_effect'
            else
                {{ stat_verdict(
                    'n_pairs',
                    'if(dimension is null, p_holm, p_bh)',
                    'mean_diff',
                    [('diff_low', 'diff_high'), ('adjusted_low', 'adjusted_high')],
                    var('confidence'), var('margin'), var('min_pairs'),
                ) }}
        end as verdict
    from adjusted
{%- endmacro %}
