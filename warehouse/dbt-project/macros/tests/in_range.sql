{#- Data test: a value that is there lies in [low, high], up to rounding of the last bit. -#}
{% test in_range(model, column_name, low, high) -%}
    select {{ column_name }}
    from {{ model }}
    where {{ column_name }} not between {{ low }} - 1e-12 and {{ high }} + 1e-12
{%- endtest %}
