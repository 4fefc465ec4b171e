{#-
    The ranks at which gold items were credited, up to a cutoff: a list, in order.
    `cutoff` is an expression; where it is NULL the whole list counts.
-#}
{% macro credits_within(ranks, cutoff) -%}
    list_filter({{ ranks }}, lambda credit_rank: {{ cutoff }} is null or credit_rank <= {{ cutoff }})
{%- endmacro %}
