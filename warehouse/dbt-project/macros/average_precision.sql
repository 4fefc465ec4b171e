{#-
    Average precision of one task in [0, 1]: precision at the rank of each credited item, summed,
    over all relevant items. `ranks` is the ordered list of credited ranks.
-#}
{% macro average_precision(ranks, n_relevant) -%}
    coalesce(list_sum(list_transform({{ ranks }}, lambda credit_rank, nth: nth / credit_rank)), 0)
    / {{ n_relevant }}
{%- endmacro %}
