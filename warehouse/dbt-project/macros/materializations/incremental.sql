{#-
    Rows added to those of earlier builds and batches. The build has taken out beforehand what is to
    be made anew (`prepare` and `lay_batch` in evalake_warehouse/build/inputs.py), so that nothing is
    deleted here, and no temporary copy is needed.

    A contract is checked where the table is made: other SQL always makes a new one.
-#}
{% materialization incremental, adapter='duckdb' %}
    {%- set relation = this.incorporate(type='table') -%}
    {% call statement('main') -%}
        {%- if load_cached_relation(this) -%}
            insert into {{ relation }} by name ({{ sql }}
            )
        {%- else -%}
            {{ new_table(relation, sql) }}
        {%- endif -%}
    {%- endcall %}
    {% do adapter.commit() %}
    {{ return({'relations': [relation]}) }}
{% endmaterialization %}
