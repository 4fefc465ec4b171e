{#- Data test: no two rows agree in all of `columns`. -#}
{% test unique_grain(model, columns) -%}
    select {{ columns | join(', ') }}
    from {{ model }}
    group by {{ columns | join(', ') }}
    having count(*) > 1
{%- endtest %}
