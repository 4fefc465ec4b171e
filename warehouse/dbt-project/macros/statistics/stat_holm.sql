{#-
    Holm's adjusted p: the smallest level at which this test would be called significant while
    the chance of one false call among all of the partition stays at that level. A window
    expression; NULL p stay NULL and are not counted.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979).
-#}
{% macro stat_holm(p, partition, rank, n) -%}
    case when {{ p }} is not null then least(1.0, max(({{ n }} - {{ rank }} + 1) * {{ p }}) over (
        partition by {{ partition }} order by {{ rank }} rows unbounded preceding
    )) end
{%- endmacro %}
