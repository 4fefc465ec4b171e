{#-
    Whether a hit's lines count as a gold item's lines: they cover at least `overlap_gold` of the
    gold span, and at least `overlap_hit` of the hit is gold, so that a chunk of a whole class
    does not match everything in it. Lines count from 1, both ends included.

    A boolean expression; NULL where either side has no lines. Both sides must be of one path.
-#}
{% macro spans_overlap(hit, gold) -%}
    {%- set shared -%}
        (least({{ hit }}.end_line, {{ gold }}.end_line)
        - greatest({{ hit }}.start_line, {{ gold }}.start_line) + 1)
    {%- endset -%}
    (
        {{ shared }} >= {{ var('overlap_gold') }} * ({{ gold }}.end_line - {{ gold }}.start_line + 1)
        and {{ shared }} >= {{ var('overlap_hit') }} * ({{ hit }}.end_line - {{ hit }}.start_line + 1)
        and {{ shared }} > 0
    )
{%- endmacro %}
