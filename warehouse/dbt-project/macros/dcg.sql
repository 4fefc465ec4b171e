{#-
    Discounted cumulative gain up to a cutoff: sum of grade / log2(rank + 1), linear gain, as in
    trec_eval's ndcg. `ranks` and `grades` are lists of equal length; 0 for empty ones. Where
    `cutoff` (an expression) is NULL the whole list counts.
-#}
{% macro dcg(ranks, grades, cutoff) -%}
    coalesce(list_sum(list_transform(
        list_zip({{ ranks }}, {{ grades }}),
        lambda credit: case
            when {{ cutoff }} is null or credit[1] <= {{ cutoff }}
                then credit[2] / log2(credit[1] + 1)
            else 0
        end
    )), 0)
{%- endmacro %}
