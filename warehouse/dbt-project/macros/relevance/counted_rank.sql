{#-
    A hit's place among the hits of its list that count: its rank less the ignored hits before it.

    An expression, BIGINT from 1. `ignored` is a list of ranks, NULL where nothing is ignored.
-#}
{% macro counted_rank(rank, ignored) -%}
    case
        when {{ ignored }} is null then {{ rank }}
        else {{ rank }} - len(list_filter({{ ignored }}, lambda before: before < {{ rank }}))
    end
{%- endmacro %}
