{#-
    A stratum's number in [0, 2^63), from its name alone; NULL where a task has no stratum. By md5,
    which is the same in every version of the database.
-#}
{% macro stat_stratum_seed(stratum) -%}
    cast(md5_number_lower('stratum:' || {{ stratum }}) >> 1 as bigint)
{%- endmacro %}
