{#-
    Benjamini and Hochberg's adjusted p: the smallest share of false calls among all calls at
    which this test would be called. For exploring many slices. A window expression; NULL p
    stay NULL and are not counted.

    Source: Benjamini and Hochberg, JRSS B 57 (1995).
-#}
{% macro stat_benjamini_hochberg(p, partition, rank, n) -%}
    case when {{ p }} is not null then least(1.0, min({{ n }} * {{ p }} / {{ rank }}) over (
        partition by {{ partition }} order by {{ rank }} rows between current row and unbounded following
    )) end
{%- endmacro %}
