{#- A table in one statement, for the reason that `view` has; a Python model returns Arrow data. -#}
{% materialization table, adapter='duckdb', supported_languages=['sql', 'python'] %}
    {%- set relation = this.incorporate(type='table') -%}
    {%- set write = "con.execute('create or replace table " ~ relation ~ " as from df')" -%}
    {% call statement('main', language=model['language']) -%}
        {%- if model['language'] == 'python' -%}
            {{ compiled_code ~ '\n\ndef materialize(df, con):\n    ' ~ write }}
        {%- else -%}
            {{ new_table(relation, sql) }}
        {%- endif -%}
    {%- endcall %}
    {% do adapter.commit() %}
    {{ return({'relations': [relation]}) }}
{% endmaterialization %}
