{#-
    Discounted cumulative gain: sum of grade / log2(rank + 1), linear gain, as in trec_eval's ndcg.

    For use in an aggregate over one list, filtered to the cutoff. Ranks count from 1; NULL, never 0,
    over no rows.
-#}
{% macro dcg(rank, grade) -%}
    sum({{ grade }} / log2({{ rank }} + 1))
{%- endmacro %}
