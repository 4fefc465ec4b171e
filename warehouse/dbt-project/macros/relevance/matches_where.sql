{#-
    Every pair of a hit and a qrel of its task for which `condition` holds, in any edition.

    A whole query over CTEs `hits` and `qrels`, of which `condition` speaks. `texts`, where given, is a
    relation keyed by dataset and text_sha256 that is joined to the hit's text, and `text_score` a
    column of it.
-#}
{% macro matches_where(condition, texts=none, text_score=none) -%}
    select
        hits.run_id,
        hits.task_id,
        hits.attempt,
        hits.rank,
        qrels.edition,
        qrels.gold_id,
        qrels.level,
        qrels.grade,
        qrels.is_relevant,
        qrels.relation,
        {{ text_score or 'cast(null as double)' }} as text_score
    from hits
    {%- if texts %}
    inner join {{ texts }}
        on hits.dataset = {{ texts }}.dataset
        and hits.text_sha256 = {{ texts }}.text_sha256
    {%- endif %}
    inner join qrels
        on hits.dataset = qrels.dataset
        and hits.task_id = qrels.task_id
        and {{ condition }}
{%- endmacro %}
