{#-
    A list of evalake_warehouse/vocabulary.py as `('ok', 'empty')`, to stand after `in`.
    Written by `python -m evalake_warehouse.vocabulary_macros`.
-#}
{% macro words(name) -%}
    {%- set lists = {
        'answered': "('ok', 'empty')",
        'failed': "('error', 'timeout')",
        'unanswered': "('error', 'timeout', 'not_attempted')",
        'one_text': "('composite', 'blob')",
        'relevant_roles': "('primary', 'core')",
        'default_role': "('candidate')",
        'control_systems': "('gold', 'empty', 'random')",
        'chance_systems': "('random')",
        'finding_nothing': "('empty', 'random')",
    } -%}
    {{ lists[name] }}
{%- endmacro %}
