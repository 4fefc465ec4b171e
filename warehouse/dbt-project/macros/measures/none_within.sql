{#-
    P(none of the first `i` files counts) in a random order of `n_files` files of which `n_relevant`
    count: C(n - r, i) / C(n, i), the hypergeometric. An expression over those columns, in [0, 1].
-#}
{% macro none_within(i) -%}
    case when n_files - n_relevant < {{ i }} then 0.0 else exp(
        lgamma(n_files - n_relevant + 1.0) - lgamma(n_files - n_relevant - {{ i }} + 1.0)
        - lgamma(n_files + 1.0) + lgamma(n_files - {{ i }} + 1.0)
    ) end
{%- endmacro %}
