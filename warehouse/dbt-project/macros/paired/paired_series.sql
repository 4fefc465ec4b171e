{#-
    Differences as series for the intervals: rows of `int_series`.

    `differences` has the columns of `paired_values`, and `dimension` and `dimension_value`, which
    are NULL for whole runs.
-#}
{% macro paired_series(differences, kind) -%}
    select
        '{{ kind }}' as kind,
        baseline_run_id,
        candidate_run_id as run_id,
        dimension,
        dimension_value,
        metric,
        task_seed,
        stratum_seed,
        {{ stat_millionths('difference') }} as score
    from {{ differences }}
{%- endmacro %}
