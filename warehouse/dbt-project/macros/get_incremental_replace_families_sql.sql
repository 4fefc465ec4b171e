{#-
    Incremental strategy `replace_families`: like `replace_runs`, for models whose rows are made
    per family. All rows of a family that a changed run belongs to are made anew.
-#}
{% macro get_incremental_replace_families_sql(arg_dict) -%}
    {{ _replace_keys(arg_dict, 'family', 'build.changed_families') }}
{%- endmacro %}
