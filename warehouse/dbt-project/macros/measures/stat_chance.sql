{#-
    Expected score of a random order of a corpus of `n_files` files, of which `n_relevant` count and
    the first `n_drawn` are returned. An expression over those columns, `measure`, `cutoff`,
    `total_grade` and `ideal_dcg`; NULL for a measure that has no such expectation.

    None of the first i files counts with probability C(n - r, i) / C(n, i), the hypergeometric.
-#}
{% macro stat_chance() -%}
    case measure
        when 'recall' then n_drawn / n_files
        when 'precision' then n_relevant / n_files * n_drawn / cutoff
        when 'success' then 1 - {{ _stat_none_within('n_drawn') }}
        when 'coverage' then 1 - {{ _stat_none_within('n_drawn') }}
        when 'needle' then 1 / n_files
        when 'rr' then list_sum(list_transform(
            range(1, n_drawn + 1),
            lambda i: ({{ _stat_none_within('(i - 1)') }} - {{ _stat_none_within('i') }}) / i
        ))
        when 'ap' then list_sum(list_transform(
            range(1, n_drawn + 1),
            lambda i: (1 + (i - 1) * coalesce((n_relevant - 1) / nullif(n_files - 1, 0), 0)) / i
        )) / n_files
        when 'ndcg' then total_grade / n_files * list_sum(list_transform(
            range(1, n_drawn + 1),
            lambda i: 1 / log2(i + 1)
        )) / ideal_dcg
    end
{%- endmacro %}


{#- P(none of the first `i` files counts). -#}
{% macro _stat_none_within(i) -%}
    case when n_files - n_relevant < {{ i }} then 0.0 else exp(
        lgamma(n_files - n_relevant + 1.0) - lgamma(n_files - n_relevant - {{ i }} + 1.0)
        - lgamma(n_files + 1.0) + lgamma(n_files - {{ i }} + 1.0)
    ) end
{%- endmacro %}
