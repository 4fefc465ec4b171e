{#-
    Condition for `qualify`: the try that counts for its task, of all its tries in a run.
    Written by `python -m evalake_warehouse.vocabulary_macros` from evalake_warehouse/lake/tries.py.
-#}
{% macro counted_try(partition) -%}
    row_number() over (partition by {{ partition }} order by status in ('ok', 'empty') desc, attempt desc) = 1
{%- endmacro %}
