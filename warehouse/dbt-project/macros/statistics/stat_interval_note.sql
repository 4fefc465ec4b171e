{#-
    Why not to lean on a bootstrap interval: `insufficient` with too few tasks, `all_equal` where it
    has width 0 because nothing varies, which proves nothing; else NULL.
-#}
{% macro stat_interval_note(n, low, high) -%}
    case
        when {{ n }} < {{ var('min_pairs') }} then 'insufficient'
        when {{ low }} = {{ high }} then 'all_equal'
    end
{%- endmacro %}
