{#-
    Statements that make a table of a model's SQL, in place of any that is there; under a contract,
    with the declared columns and constraints.
-#}
{% macro new_table(relation, sql) -%}
    {%- if config.get('contract').enforced -%}
        {{ get_assert_columns_equivalent(sql) }}
        create or replace table {{ relation }} {{ get_table_columns_and_constraints() }};
        insert into {{ relation }} by name ({{ sql }}
        )
    {%- else -%}
        create or replace table {{ relation }} as ({{ sql }}
        )
    {%- endif -%}
{%- endmacro %}
