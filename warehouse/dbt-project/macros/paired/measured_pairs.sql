{#-
    Pairs that an earlier build measured, as a query of baseline_run_id and candidate_run_id.

    It reads the table that `int_pair_measures` is about to add to, which no `ref` may do: what is
    left to measure depends on what was.
-#}
{% macro measured_pairs() -%}
    {%- set known = none -%}
    {%- if execute -%}
        {%- set place = {'database': target.database, 'schema': target.schema} -%}
        {%- set known = adapter.get_relation(identifier='int_pair_measures', **place) -%}
    {%- endif -%}
    {%- if known -%}
    select distinct baseline_run_id, candidate_run_id from {{ known }}
    {%- else -%}
    select cast(null as varchar) as baseline_run_id, cast(null as varchar) as candidate_run_id
    where false
    {%- endif -%}
{%- endmacro %}
