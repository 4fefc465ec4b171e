{#-
    A view in one statement. dbt's own makes it under another name, and renames and drops: that is
    for readers of a live database, and nobody reads this one before it is finished.
-#}
{% materialization view, adapter='duckdb' %}
    {%- set relation = this.incorporate(type='view') -%}
    {% call statement('main') -%}
        create or replace view {{ relation }} as ({{ sql }}
        )
    {%- endcall %}
    {% do adapter.commit() %}
    {{ return({'relations': [relation]}) }}
{% endmaterialization %}
