{#-
    An end of Wilson's score interval for a proportion, in [0, 1]; NULL for n = 0.

    `side` is 'low' or 'high'. Never of width 0: 5 of 5 gives 0.566 to 1.
    Source: Wilson, JASA 22 (1927).
-#}
{% macro stat_wilson_bound(share, n, side, confidence) -%}
    {%- set z = '(' ~ stat_normal_quantile((1 + confidence | float) / 2) ~ ')' -%}
    {%- set half -%}
        {{ z }} * sqrt({{ share }} * (1 - {{ share }}) / {{ n }} + {{ z }} * {{ z }} / (4 * {{ n }} ** 2))
    {%- endset -%}
    {%- set middle = share ~ ' + ' ~ z ~ ' * ' ~ z ~ ' / (2 * ' ~ n ~ ')' -%}
    {%- set scale = '(1 + ' ~ z ~ ' * ' ~ z ~ ' / ' ~ n ~ ')' -%}
    {%- if side == 'low' -%}
    case when {{ n }} > 0 then greatest(0.0, ({{ middle }} - {{ half }}) / {{ scale }}) end
    {%- else -%}
    case when {{ n }} > 0 then least(1.0, ({{ middle }} + {{ half }}) / {{ scale }}) end
    {%- endif -%}
{%- endmacro %}
