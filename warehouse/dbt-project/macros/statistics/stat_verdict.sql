{#-
    What a paired comparison says, in one word.

    `better` / `worse`: significant after adjustment. `no_difference`: both intervals lie inside
    the margin. The plain one has width 0 where no task differs, however few there are, so
    the adjusted one (a pair of opposite differences added) must agree. Else `insufficient`.
-#}
{% macro stat_verdict(n_pairs, p, mean_diff, intervals, confidence, margin, min_pairs) -%}
    {%- set inside = [] -%}
    {%- for low, high in intervals -%}
        {%- do inside.append(low ~ ' >= -' ~ margin ~ ' and ' ~ high ~ ' <= ' ~ margin) -%}
    {%- endfor -%}
    case
        when coalesce({{ n_pairs }}, 0) < {{ min_pairs }} then 'insufficient'
        when {{ p }} <= 1 - {{ confidence }}::double and {{ mean_diff }} > 0 then 'better'
        when {{ p }} <= 1 - {{ confidence }}::double and {{ mean_diff }} < 0 then 'worse'
        when {{ inside | join(' and ') }} then 'no_difference'
        else 'insufficient'
    end
{%- endmacro %}
