-- Grain: one row per run, task and rank, with its relevance at the dataset's primary level.

{{ config(materialized='incremental') }}

with hits as (
    select * from {{ ref('stg_hits') }}
),

datasets as (
    select * from {{ ref('stg_datasets') }}
),

file_units as (
    select * from {{ ref('int_file_units') }}
),

matches as (
    select * from {{ ref('int_hit_matches') }}
    where run_id in (select run_id from {{ source('build', 'changed_runs') }})
),

credits as (
    select * from {{ ref('int_credits') }}
),

gold_paths as (
    select
        dataset,
        edition,
        task_id,
        list(distinct path) as paths
    from {{ ref('stg_qrels') }}
    where path is not null and is_relevant
    group by dataset, edition, task_id
),

placed as (
    select
        hits.*,
        datasets.primary_level as level,
        case
            when datasets.primary_level = 'file' then file_units.unit_rank
            else hits.rank
        end as unit_rank,
        -- Set for the one hit that a unit's credit belongs to: a file's first.
        case
            when datasets.primary_level != 'file' then hits.rank
            when hits.rank = file_units.first_rank then file_units.unit_rank
        end as earning_rank
    from hits
    inner join datasets
        on hits.dataset = datasets.dataset
        and hits.edition = datasets.edition
    left join file_units
        on hits.run_id = file_units.run_id
        and hits.task_id = file_units.task_id
        and hits.rank = file_units.rank
),

best_match as (
    select
        run_id,
        task_id,
        level,
        rank,
        arg_max(gold_id, (is_relevant, grade, relation)) as gold_id,
        arg_max(relation, (is_relevant, grade, relation)) as relation,
        max(grade) as grade,
        bool_or(is_relevant) as is_relevant
    from matches
    group by run_id, task_id, level, rank
)

select
    placed.run_id,
    placed.task_id,
    placed.rank,
    placed.unit_rank,
    placed.item_id,
    placed.path,
    placed.start_line,
    placed.end_line,
    placed.score,
    coalesce(best_match.is_relevant, false) as relevant,
    best_match.grade,
    coalesce(credits.gold_id, best_match.gold_id) as gold_id,
    credits.gold_id is not null as credited,
    best_match.relation,
    placed.level,
    placed.raw_path,
    placed.path_status,
    -- Judged on the raw answer: it ends in the path of a gold item, whatever became of it after.
    case
        when placed.raw_path is not null and gold_paths.paths is not null
            then len(list_filter(
                gold_paths.paths,
                lambda gold_path: placed.raw_path = gold_path
                or ends_with(replace(placed.raw_path, '\', '/'), '/' || gold_path)
            )) > 0
    end as reached,
    placed.qualified_name,
    placed.doc_id,
    placed.title,
    placed.text_sha256,
    placed.branch
from placed
left join best_match
    on placed.run_id = best_match.run_id
    and placed.task_id = best_match.task_id
    and placed.level = best_match.level
    and placed.rank = best_match.rank
left join credits
    on placed.run_id = credits.run_id
    and placed.task_id = credits.task_id
    and placed.level = credits.level
    and placed.earning_rank = credits.unit_rank
left join gold_paths
    on placed.dataset = gold_paths.dataset
    and placed.edition = gold_paths.edition
    and placed.task_id = gold_paths.task_id
