{#-
    Delete the rows whose `key` is listed in `changed`, then insert the model's rows. A statement
    pair inside the materialization's transaction: both happen or neither.
-#}
{% macro _replace_keys(arg_dict, key, changed) -%}
    {%- set target = arg_dict['target_relation'] -%}
    {%- set columns = arg_dict['dest_columns'] | map(attribute='quoted') | join(', ') -%}
    {%- set keys = run_query('select ' ~ key ~ ' from ' ~ changed).columns[0].values() -%}
    {%- if keys %}
    delete from {{ target }}
    where {{ key }} in ('{{ keys | map('replace', "'", "''") | join("', '") }}');
    {%- endif %}
    insert into {{ target }} ({{ columns }})
    select {{ columns }} from {{ arg_dict['temp_relation'] }}
{%- endmacro %}
