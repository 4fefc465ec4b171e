{#- Data test: exactly one of `value` and `null_reason` is set. -#}
{% test value_or_reason(model) -%}
    select *
    from {{ model }}
    where (value is null) = (null_reason is null)
{%- endtest %}
