{#- A score in whole millionths, BIGINT, so that sums are exact in any order. -#}
{% macro stat_millionths(value) -%}
    cast(round({{ value }} * 1e6) as bigint)
{%- endmacro %}
