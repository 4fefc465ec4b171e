{#-
    Grain of the query: one row per pair of runs: on how many of their common tasks both returned
    the very same list. A pair with a frozen baseline, whose lists no file holds, has no row.

    Relations: `pairs` (baseline_run_id, candidate_run_id), `lists` (fct_task_lists).
-#}
{% macro paired_lists(pairs, lists) -%}
    select
        pairs.baseline_run_id,
        pairs.candidate_run_id,
        count(*) as n_common_lists,
        count(*) filter (where baseline.list_digest = candidate.list_digest) as n_same_lists
    from (
        select distinct baseline_run_id, candidate_run_id
        from {{ pairs }}
    ) as pairs
    inner join {{ lists }} as baseline
        on pairs.baseline_run_id = baseline.run_id
    inner join {{ lists }} as candidate
        on pairs.candidate_run_id = candidate.run_id
        and baseline.task_id = candidate.task_id
    where
        baseline.list_digest is not null
        and candidate.list_digest is not null
    group by pairs.baseline_run_id, pairs.candidate_run_id
{%- endmacro %}
