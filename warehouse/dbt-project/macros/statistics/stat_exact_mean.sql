{#-
    Mean of scores in [-1, 1] with the same bits in any row order and on any number of threads: an
    exact sum of integers in units of 1e-15, over `n` (by default the number of non-NULL scores).
    An aggregate; NULL where `n` is 0.
-#}
{% macro stat_exact_mean(value, n=none) -%}
    cast(sum(cast(round({{ value }} * 1e15) as bigint)) as double)
    / 1e15
    / nullif({{ n or 'count(' ~ value ~ ')' }}, 0)
{%- endmacro %}
