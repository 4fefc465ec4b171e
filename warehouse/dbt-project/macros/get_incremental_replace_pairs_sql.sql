{#-
    Incremental strategy `replace_pairs`: the rows of every pair of runs that the model has rows of
    are replaced; other pairs keep theirs.
-#}
{% macro get_incremental_replace_pairs_sql(arg_dict) -%}
    {%- set target = arg_dict['target_relation'] -%}
    {%- set columns = arg_dict['dest_columns'] | map(attribute='quoted') | join(', ') -%}
    delete from {{ target }} as old
    using (
        select distinct baseline_run_id, candidate_run_id from {{ arg_dict['temp_relation'] }}
    ) as new
    where
        old.baseline_run_id = new.baseline_run_id
        and old.candidate_run_id = new.candidate_run_id;
    insert into {{ target }} ({{ columns }})
    select {{ columns }} from {{ arg_dict['temp_relation'] }}
{%- endmacro %}
