{#-
    A series' number within one build, BIGINT from 0 up: cheap to group and sort by. It is never
    kept, so it does not matter that `hash` may change with the database's version.
-#}
{% macro stat_series_id() -%}
    cast(hash(kind, baseline_run_id, run_id, dimension, dimension_value, metric) >> 1 as bigint)
{%- endmacro %}
