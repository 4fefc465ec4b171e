{#-
    Incremental strategy `replace_runs`: the rows of every changed run are deleted and the model's
    rows inserted. Run ids are passed as literals, which zone maps can prune by.
-#}
{% macro get_incremental_replace_runs_sql(arg_dict) -%}
    {{ _replace_keys(arg_dict, 'run_id', 'build.changed_runs') }}
{%- endmacro %}
